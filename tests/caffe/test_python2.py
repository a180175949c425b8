"""What converted scripts print, against what Python 2.7 prints for them; each line of SCRIPT has its own beside it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from places import ROOT

from boxpresso.caffe import python2

SCRIPT = r"""
import errno, itertools, math, os, socket, string, struct, sys, types
import math as m
import numpy as np
from itertools import imap, izip
from math import ceil, sqrt
from string import join, letters
from types import *

reload(sys); sys.setdefaultencoding('utf8'); print sys.getdefaultencoding()[:3]  #: utf
try: raise ValueError, 'm'
except ValueError, e: print e.message, e[0]  #: m m
try: raise IOError(2, 'no')
except IOError, e: print e[0], e[1], repr(e.message), e.errno == os.errno.ENOENT  #: 2 no '' True
class Own(Exception):
    message = 'own'
    def __getitem__(self, at): return at
try: raise Own('a')
except Own, e: print e.message, e[7]  #: own 7
print itertools.izip([1], [2]).next(), izip('a', 'b').next()[1].upper()  #: (1, 2) B
print list(imap(abs, [-1])), list(itertools.ifilter(None, [0, 1])), list(itertools.izip_longest([1], [2, 3]))  #: [1] [1] [(1, 2), (None, 3)]
print imap(abs, itertools.count(-2)).next(), [a + b for a, b in izip([1], [2])]  #: 2 [3]
print filter(lambda c: c != 'a', 'banana'), filter(None, (0, 1, 2)), filter(None, [0, 3])  #: bnn (1, 2) [3]
print map(None, [1, 2], [3, 4]), map(None, [1]), map(lambda a, b: (a, b), [1, 2], [3]), map(len, ['ab'])[0]  #: [(1, 3), (2, 4)] [1] [(1, 3), (2, None)] 2
def downwards(a, b): return cmp(b, a)
numbers = [3, 1, 2]; numbers.sort(downwards); print numbers, sorted([3, 1, 2], downwards), sorted([1, 2], cmp=downwards)  #: [3, 2, 1] [3, 2, 1] [2, 1]
mixed = [3, None, 1]; mixed.sort(); print mixed, sorted([3, None, 'a', 1]), max([None, 3]), min([None, 3]), max(1, 'a')  #: [None, 1, 3] [None, 1, 3, 'a'] 3 None a
words = ['b', 'C', 'a']; words.sort(key=str.lower, reverse=True); print words, max([1, -2], key=abs), min(iter([2, 1]))  #: ['C', 'b', 'a'] -2 1
rows = np.array([[3, 1], [2, 0]]); rows.sort(0); print rows.tolist(), sorted({'b': 1, 'a': 2})  #: [[2, 0], [3, 1]] ['a', 'b']
print math.floor(5.5) / 2, m.ceil(2.1), ceil(7 / 2), sqrt(4), isinstance(math.floor(1.5), float)  #: 2.5 3.0 3.0 2.0 True
print np.arange(5)[math.floor(2.5)], np.zeros((ceil(1.5), 1)).shape, [7, 8][math.floor(1.2)], math.floor(float('inf'))  #: 2 (2, 1) 8 inf
class Half(object):
    def __div__(self, other): return 'd'
    def __rdiv__(self, other): return 'r'
    def __idiv__(self, other): return 'i'
half = Half(); print half / 1, 1 / half,  #:
half /= 2; print half  #: d r i
class Ordered:
    def __init__(self, n): self.n = n
    def __cmp__(self, other): return cmp(self.n, other.n)
print Ordered(1) < Ordered(2), Ordered(1) == Ordered(1), max(Ordered(1), Ordered(3)).n, len(set([Ordered(1)]))  #: True True 3 1
print types.StringType is str, isinstance('a', StringTypes), type(1) == IntType, type([]) == ListType, type(1.) == FloatType  #: True True True True True
print struct.pack('3s', 'abc'), len(struct.pack('<I3s', 5, 'abc')), 'abc'.translate(None, 'b'), 'abc'.translate(string.maketrans('a', 'x'), 'c')  #: abc 7 ac xb
open('t.txt', 'w').write('first\nsecond\n')
print open('t.txt').next().strip(), len(letters), join(['a', 'b'], ''), string.capitalize('ab'), string.rjust('a', 2)  #: first 52 ab Ab  a
os.mkdir('tree'); os.mkdir('tree/below')
def visit(gathered, folder, names): gathered.append((folder, names))
gathered = []; os.path.walk('tree', visit, gathered); print gathered, os.getcwdu() == os.getcwd()  #: [('tree', ['below']), ('tree/below', [])] True
"""


@pytest.mark.skipif(python2.converter_name() is None, reason="this Python has no converter of Python 2")
def test_what_python_2_prints(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "boxpresso.caffe", "script.py"]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    expected = [line.partition("#: ")[2] for line in SCRIPT.splitlines() if "#: " in line]
    assert result.stdout.splitlines() == expected
