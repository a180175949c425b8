// suppress.cu: greedy suppression of boxes that overlap a better one. Group g of boxes, best first, is boxes[start[g]] to
// boxes[start[g + 1]]; kept: the indices of the boxes that stay, in order and at most `limit` of a group, then -1.
#include "rotated.h"

constexpr int ROOM = 5;     // numbers of scratch memory for each upright box
constexpr int CHUNK = 256;  // boxes that suppress_chunks looks at together

// Of NaN and a number the first: a GPU's own min and max give the number, and then boxes with NaN would be others there.
DEVICE Real smaller(Real a, Real b) { return b < a ? b : a; }
DEVICE Real larger(Real a, Real b) { return a < b ? b : a; }

// The loop of all suppression, for the group of `size` boxes from `first` on. clashes(i, count, least): whether box i overlaps
// one of the `count` boxes that stay by `least`; each thread of the block tries a part of them. keep(i, count): box i stays.
// stay: where it writes how many do, or null.
// With eta below 1 `least` shrinks by that factor each time a box stays, while it is above 0.5.
template <class Threshold, class Clashes, class Keep>
DEVICE void suppress_group(int first, int size, int* kept, int* stay, int limit, Threshold threshold, Threshold eta,
                           Clashes clashes, Keep keep) {
  SHARED int count, clash;
  SHARED Threshold least;
  THREAD_LOOP(k, size) kept[first + k] = -1;
  THREAD_LOOP(t, 1) {
    count = clash = 0;
    least = threshold;
  }
  BARRIER();
  for (int i = 0; i < size && count < limit; ++i) {
    if (clashes(i, count, least)) raise_to(&clash, 1);
    BARRIER();
    THREAD_LOOP(t, 1) {
      if (!clash) {
        keep(i, count);
        kept[first + count++] = first + i;
        if (eta < 1 && least > Threshold(0.5)) least *= eta;
      }
      clash = 0;
    }
    BARRIER();
  }
  if (stay) THREAD_LOOP(one, 1) *stay = count;
  BARRIER();
}

// Boxes (xmin, ymin, xmax, ymax), a width being xmax - xmin + last: 1 in whole pixels, as Fast R-CNN has them, where the last
// pixel belongs to the box, and 0 for plain coordinates. A box goes when it overlaps one that stays by the threshold or more;
// if `above`, as in SSD, when it meets one that it overlaps by more, or by NaN (both are infinite).
// room: ROOM numbers for each box: the corners and areas of the boxes that stay lie one kind after another, so that a vector
// of them is tried at once. stay: how many stay of each group, or null.
KERNEL suppress_upright(int n, const Real* boxes, const int* start, Real* room, int* kept, int* stay, int limit, Real last,
                        Real threshold, Real eta, int above) {
  BLOCK_LOOP(g, n) {
    const int first = start[g], size = start[g + 1] - first;
    Real* x0 = room + ROOM * first;
    Real *y0 = x0 + size, *x1 = y0 + size, *y1 = x1 + size, *areas = y1 + size;
    const auto area_of = [=](const Real* box) { return (box[2] - box[0] + last) * (box[3] - box[1] + last); };
    const auto clashes = [=](int i, int count, Real least) {
      const Real* box = boxes + 4 * (first + i);
      const Real left = box[0], top = box[1], right = box[2], bottom = box[3], area = area_of(box);
      int hit = 0;
      THREAD_LOOP(k, count) {
        const Real width = larger(Real(0), smaller(right, x1[k]) - larger(left, x0[k]) + last);
        const Real height = larger(Real(0), smaller(bottom, y1[k]) - larger(top, y0[k]) + last);
        const Real shared = width * height, overlap = shared / (areas[k] + area - shared);
        hit |= above ? (width > 0) & (height > 0) & !(overlap <= least) : overlap >= least;
      }
      return hit;
    };
    const auto keep = [=](int i, int count) {
      const Real* box = boxes + 4 * (first + i);
      x0[count] = box[0];
      y0[count] = box[1];
      x1[count] = box[2];
      y1[count] = box[3];
      areas[count] = area_of(box);
    };
    suppress_group(first, size, kept, stay ? stay + g : stay, limit, threshold, eta, clashes, keep);
  }
}

// Whether a box that stays, `kept`, and a worse one clash: the rule of suppress_upright.
DEVICE bool clash(const Real* kept, const Real* box, Real last, Real least, int above) {
  const Real area = (box[2] - box[0] + last) * (box[3] - box[1] + last);
  const Real width = larger(Real(0), smaller(box[2], kept[2]) - larger(box[0], kept[0]) + last);
  const Real height = larger(Real(0), smaller(box[3], kept[3]) - larger(box[1], kept[1]) + last);
  const Real shared = width * height, overlap = shared / ((kept[2] - kept[0] + last) * (kept[3] - kept[1] + last) + area - shared);
  return above ? (width > 0) & (height > 0) & !(overlap <= least) : overlap >= least;
}

// For a GPU: which boxes each would suppress, as bits, all at once. Bit j % 32 of words[j / 32 * boxes + i], of `boxes` boxes in
// all: whether box j of the group of box i, and behind it, clashes with box i. So neighbouring threads read the same boxes j.
// t: which of the words of `count` boxes; clashes(i, j): whether box i, which is better, and box j do.
template <class Clashes>
DEVICE int suppress_word(int t, const int* start, int count, int groups, Clashes clashes) {
  const int w = t / count, i = t - w * count;
  int group = 0, end = groups;
  while (end - group > 1) {
    const int middle = (group + end) / 2;
    (start[middle] <= i ? group : end) = middle;
  }
  const int first = start[group], size = start[group + 1] - first;
  int word = 0;
  for (int j = max(32 * w, i - first + 1); j < min(32 * w + 32, size); ++j) word |= int(unsigned(clashes(i, first + j)) << j % 32);
  return word;
}

// Whether boxes i and j of the list have one label, `wide` numbers of labels for each box order[i]; all have where labels is null.
DEVICE bool same_label(const int* labels, const int* order, int wide, int i, int j) {
  if (!labels) return true;
  for (int k = 0; k < wide; ++k)
    if (labels[(long long)order[i] * wide + k] != labels[(long long)order[j] * wide + k]) return false;
  return true;
}

KERNEL suppress_words(int n, const Real* boxes, const int* start, int* words, int count, int groups, Real last, Real threshold,
                      int above, const int* labels, const int* order, int wide) {
  GRID_LOOP(t, n) words[t] = suppress_word(t, start, count, groups, [=](int i, int j) {
    return clash(boxes + 4 * (long long)i, boxes + 4 * (long long)j, last, threshold, above) && same_label(labels, order, wide, i, j);
  });
}

constexpr int TILE_WORDS = 32;  // of 32 boxes each: what one launch chooses of a group

// Then the boxes are chosen tile by tile, best first, with the bits of all that are suppressed so far in gone (groups, across). Here a
// block for each group goes through the words [from, to), 32 boxes at a time. Which of the 32 stay is seen by every thread from their
// own words; then the threads share the words of the tile behind, and suppress there what clashes with those that stay. The bits of
// those that stay are left in gone, for suppress_behind. stayed: how many stay of each group, or null where there is one tile.
KERNEL suppress_chosen(int n, const int* words, const int* start, int* gone, int* kept, int* stayed, int limit, int count, int across,
                       int from, int to) {
  SHARED int own[32];
  BLOCK_LOOP(g, n) {
    const int first = start[g], size = start[g + 1] - first, most = (size + 31) / 32, end = min(most, to);
    int* mine = gone + (long long)g * across;
    if (from == 0) {
      THREAD_LOOP(w, most) mine[w] = 0;
      THREAD_LOOP(k, size) kept[first + k] = -1;
    }
    int stay = from ? stayed[g] : 0;
    BARRIER();
    for (int w = from; w < end && stay < limit; ++w) {
      const int here = first + 32 * w, boxes = min(32, size - 32 * w);
      THREAD_LOOP(i, boxes) own[i] = words[(long long)w * count + here + i];
      BARRIER();
      const int before = stay;
      unsigned suppressed = mine[w], chosen = 0;
      for (int i = 0; i < boxes && stay < limit; ++i) {
        if (suppressed >> i & 1) continue;
        chosen |= 1u << i;
        suppressed |= unsigned(own[i]);
        ++stay;
      }
      BARRIER();
      THREAD_LOOP(one, 1) {
        int at = first + before;
        for (int i = 0; i < boxes; ++i)
          if (chosen >> i & 1) kept[at++] = here + i;
        mine[w] = int(chosen);
      }
      THREAD_LOOP(k, end - w - 1) {
        const int* column = words + (long long)(w + 1 + k) * count + here;
        int word = mine[w + 1 + k];
        for (int i = 0; i < boxes; ++i)
          if (chosen >> i & 1) word |= column[i];
        mine[w + 1 + k] = word;
      }
      BARRIER();
    }
    if (stayed) THREAD_LOOP(one, 1) stayed[g] = stay;
    BARRIER();
  }
}

// The words behind a tile, from `to` on, a block for each of each group: what clashes with those of the tile that stay is suppressed.
KERNEL suppress_behind(int n, const int* words, const int* start, int* gone, int count, int across, int from, int to) {
  SHARED int found[32 * TILE_WORDS], part[TILE_WORDS];
  BLOCK_LOOP(b, n) {
    const int behind = across - to, g = b / behind, w = to + b - g * behind, first = start[g], size = start[g + 1] - first;
    const int tile = to - from;
    int* mine = gone + (long long)g * across;
    if (32 * w < size) {  // the whole block
      const int* column = words + (long long)w * count + first + 32 * from;
      THREAD_LOOP(i, 32 * tile) found[i] = unsigned(mine[from + i / 32]) >> i % 32 & 1 ? column[i] : 0;
      BARRIER();
      THREAD_LOOP(k, tile) {
        int word = 0;
        for (int i = 0; i < 32; ++i) word |= found[32 * k + i];
        part[k] = word;
      }
      BARRIER();
      THREAD_LOOP(one, 1) {
        int word = mine[w];
        for (int k = 0; k < tile; ++k) word |= part[k];
        mine[w] = word;
      }
    }
    BARRIER();
  }
}

// For a GPU, and more boxes than there is room for all their words: CHUNK boxes at a time, a thread for each finds whether one that
// stays suppresses it, then the threads share the words of the chunk, and by these one thread chooses. No room is needed.
KERNEL suppress_chunks(int n, const Real* boxes, const int* start, int* kept, int* stayed, int limit, Real last, Real threshold,
                       int above) {
  SHARED int gone[CHUNK], words[CHUNK * (CHUNK / 32)], suppressed[CHUNK / 32], count;
  BLOCK_LOOP(g, n) {
    const int first = start[g], size = start[g + 1] - first;
    THREAD_LOOP(k, size) kept[first + k] = -1;
    THREAD_LOOP(one, 1) count = 0;
    BARRIER();
    for (int from = 0; from < size && count < limit; from += CHUNK) {
      const int many = min(CHUNK, size - from), across = (many + 31) / 32;
      const Real* mine = boxes + 4ll * (first + from);
      THREAD_LOOP(i, many) {
        int hit = 0;
        for (int k = 0; k < count && !hit; ++k) hit = clash(boxes + 4ll * kept[first + k], mine + 4 * i, last, threshold, above);
        gone[i] = hit;
      }
      THREAD_LOOP(t, many * across) {
        const int i = t % many, w = t / many;
        unsigned word = 0;
        for (int j = max(32 * w, i + 1); j < min(32 * w + 32, many); ++j)
          word |= unsigned(clash(mine + 4 * i, mine + 4 * j, last, threshold, above)) << j % 32;
        words[w * CHUNK + i] = int(word);
      }
      THREAD_LOOP(w, across) suppressed[w] = 0;
      BARRIER();
      THREAD_LOOP(one, 1) {
        for (int i = 0; i < many && count < limit; ++i) {
          if (gone[i] || unsigned(suppressed[i / 32]) >> i % 32 & 1) continue;
          for (int w = i / 32; w < across; ++w) suppressed[w] |= words[w * CHUNK + i];
          kept[first + count++] = first + from + i;
        }
      }
      BARRIER();
    }
    if (stayed) THREAD_LOOP(one, 1) stayed[g] = count;
    BARRIER();
  }
}

// Rotated boxes (centre x, centre y, width, height, angle in radians), one after another; a box goes when it overlaps one that
// stays by more than the threshold.
KERNEL suppress_rotated(int n, const Real* boxes, const int* start, int* kept, int* stay, int limit, double threshold) {
  BLOCK_LOOP(g, n) {
    const int first = start[g], size = start[g + 1] - first;
    const int* mine = kept + first;
    const auto clashes = [=](int i, int count, double least) {
      int hit = 0;
      THREAD_LOOP(k, count) hit |= rotated_overlap(boxes + 5 * mine[k], boxes + 5 * (first + i)) > least;
      return hit;
    };
    suppress_group(first, size, kept, stay ? stay + g : stay, limit, threshold, 1.0, clashes, [](int, int) {});
  }
}

// Their words, for suppress_chosen.
KERNEL suppress_rotated_words(int n, const Real* boxes, const int* start, int* words, int count, int groups, double threshold,
                              const int* labels, const int* order, int wide) {
  GRID_LOOP(t, n) words[t] = suppress_word(t, start, count, groups, [=](int i, int j) {
    return same_label(labels, order, wide, i, j) && rotated_overlap(boxes + 5 * (long long)i, boxes + 5 * (long long)j) > threshold;
  });
}

// overlap[i] of the rotated boxes a[i / columns] and b[i % columns].
KERNEL rotated_overlaps(int n, const Real* a, const Real* b, Real* overlap, int columns) {
  GRID_LOOP(i, n) overlap[i] = rotated_overlap(a + 5 * (i / columns), b + 5 * (i % columns));
}
