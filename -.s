	.file	"11979bcbd9bddb5be7afef58157a6919-stdin.cpp"
	.file	1 "/tmp/wt/families" "boxpresso/device/kernel.h"
	.file	2 "/tmp/wt/families" "boxpresso/device/sum.h"
	.text
	.globl	square_sums                     # -- Begin function square_sums
	.p2align	4
	.type	square_sums,@function
square_sums:                            # @square_sums
.Lfunc_begin0:
	.file	3 "/tmp/wt/families" "boxpresso/train/solver.cu"
	.loc	3 12 0                          # boxpresso/train/solver.cu:12:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$2288, %rsp                     # imm = 0x8F0
	movq	%fs:40, %rax
	movq	%rax, -8(%rbp)
	movl	%edi, -2076(%rbp)
	movq	%rsi, -2088(%rbp)
	movq	%rdx, -2096(%rbp)
	movl	%ecx, -2100(%rbp)
	movl	%r8d, -2104(%rbp)
.Ltmp0:
	.loc	3 13 17 prologue_end            # boxpresso/train/solver.cu:13:17
	movl	-2076(%rbp), %eax
	movl	%eax, -2148(%rbp)               # 4-byte Spill
	.loc	3 13 3 is_stmt 0                # boxpresso/train/solver.cu:13:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-2148(%rbp), %edi               # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	.loc	3 13 14                         # boxpresso/train/solver.cu:13:14
	movl	%eax, -2108(%rbp)
	.loc	3 13 17                         # boxpresso/train/solver.cu:13:17
	movl	-2076(%rbp), %eax
	movl	%eax, -2144(%rbp)               # 4-byte Spill
	.loc	3 13 3                          # boxpresso/train/solver.cu:13:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %eax
	movl	%eax, -2140(%rbp)               # 4-byte Spill
	incl	%eax
	movl	%eax, -2136(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_2
# %bb.1:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-2140(%rbp), %eax               # 4-byte Reload
	.loc	3 13 3                          # boxpresso/train/solver.cu:13:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_1(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB0_2:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-2136(%rbp), %esi               # 4-byte Reload
	movl	-2144(%rbp), %edi               # 4-byte Reload
	.loc	3 13 3                          # boxpresso/train/solver.cu:13:3
	callq	_ZL8share_ofii
	movl	%eax, -2112(%rbp)
.LBB0_3:                                # =>This Loop Header: Depth=1
                                        #     Child Loop BB0_13 Depth 2
.Ltmp1:
	.loc	3 13 14                         # boxpresso/train/solver.cu:13:14
	movl	-2108(%rbp), %eax
	.loc	3 13 3                          # boxpresso/train/solver.cu:13:3
	cmpl	-2112(%rbp), %eax
.Ltmp2:
	.loc	3 13 3                          # boxpresso/train/solver.cu:13:3
	jge	.LBB0_26
# %bb.4:                                #   in Loop: Header=BB0_3 Depth=1
.Ltmp3:
	.loc	3 15 24 is_stmt 1               # boxpresso/train/solver.cu:15:24
	movq	-2088(%rbp), %rax
	movq	%rax, -2168(%rbp)               # 8-byte Spill
	.loc	3 15 28 is_stmt 0               # boxpresso/train/solver.cu:15:28
	movl	-2108(%rbp), %eax
	movl	%eax, -2160(%rbp)               # 4-byte Spill
	.loc	3 15 32                         # boxpresso/train/solver.cu:15:32
	movl	-2104(%rbp), %ecx
	movl	%ecx, -2156(%rbp)               # 4-byte Spill
	.loc	3 15 30                         # boxpresso/train/solver.cu:15:30
	imull	%ecx, %eax
	movl	%eax, -2152(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_6
# %bb.5:                                #   in Loop: Header=BB0_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movl	-2156(%rbp), %eax               # 4-byte Reload
	movl	-2160(%rbp), %ecx               # 4-byte Reload
	.loc	3 15 30                         # boxpresso/train/solver.cu:15:30
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_2(%rip), %rdi
	callq	__ubsan_handle_mul_overflow@PLT
.LBB0_6:                                #   in Loop: Header=BB0_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movq	-2168(%rbp), %rsi               # 8-byte Reload
	movl	-2152(%rbp), %eax               # 4-byte Reload
	.loc	3 15 26                         # boxpresso/train/solver.cu:15:26
	movslq	%eax, %rdi
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -2192(%rbp)               # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -2184(%rbp)               # 8-byte Spill
	movq	%rsi, %rax
	movq	%rax, -2176(%rbp)               # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB0_8
# %bb.7:                                #   in Loop: Header=BB0_3 Depth=1
	.loc	3 0 26                          # boxpresso/train/solver.cu:0:26
	movq	-2192(%rbp), %rdx               # 8-byte Reload
	movq	-2176(%rbp), %rsi               # 8-byte Reload
	.loc	3 15 26                         # boxpresso/train/solver.cu:15:26
	leaq	.L__unnamed_3(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB0_8:                                #   in Loop: Header=BB0_3 Depth=1
	.loc	3 0 26                          # boxpresso/train/solver.cu:0:26
	movq	-2184(%rbp), %rax               # 8-byte Reload
	.loc	3 15 17                         # boxpresso/train/solver.cu:15:17
	movq	%rax, -2072(%rbp)
	.loc	3 16 34 is_stmt 1               # boxpresso/train/solver.cu:16:34
	leaq	-2064(%rbp), %rax
	movq	%rax, -2224(%rbp)               # 8-byte Spill
	.loc	3 16 44 is_stmt 0               # boxpresso/train/solver.cu:16:44
	movl	-2104(%rbp), %eax
	movl	%eax, -2212(%rbp)               # 4-byte Spill
	.loc	3 16 51                         # boxpresso/train/solver.cu:16:51
	movl	-2100(%rbp), %eax
	movl	%eax, -2208(%rbp)               # 4-byte Spill
	.loc	3 16 59                         # boxpresso/train/solver.cu:16:59
	movl	-2108(%rbp), %eax
	movl	%eax, -2204(%rbp)               # 4-byte Spill
	.loc	3 16 63                         # boxpresso/train/solver.cu:16:63
	movl	-2104(%rbp), %ecx
	movl	%ecx, -2200(%rbp)               # 4-byte Spill
	.loc	3 16 61                         # boxpresso/train/solver.cu:16:61
	imull	%ecx, %eax
	movl	%eax, -2196(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_10
# %bb.9:                                #   in Loop: Header=BB0_3 Depth=1
	.loc	3 0 61                          # boxpresso/train/solver.cu:0:61
	movl	-2200(%rbp), %eax               # 4-byte Reload
	movl	-2204(%rbp), %ecx               # 4-byte Reload
	.loc	3 16 61                         # boxpresso/train/solver.cu:16:61
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_4(%rip), %rdi
	callq	__ubsan_handle_mul_overflow@PLT
.LBB0_10:                               #   in Loop: Header=BB0_3 Depth=1
	.loc	3 0 61                          # boxpresso/train/solver.cu:0:61
	movl	-2196(%rbp), %ecx               # 4-byte Reload
	movl	-2208(%rbp), %eax               # 4-byte Reload
	.loc	3 16 57                         # boxpresso/train/solver.cu:16:57
	subl	%ecx, %eax
	movl	%eax, -2228(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_12
# %bb.11:                               #   in Loop: Header=BB0_3 Depth=1
	.loc	3 0 57                          # boxpresso/train/solver.cu:0:57
	movl	-2196(%rbp), %eax               # 4-byte Reload
	movl	-2208(%rbp), %ecx               # 4-byte Reload
	.loc	3 16 57                         # boxpresso/train/solver.cu:16:57
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_5(%rip), %rdi
	callq	__ubsan_handle_sub_overflow@PLT
.LBB0_12:                               #   in Loop: Header=BB0_3 Depth=1
	.loc	3 0 57                          # boxpresso/train/solver.cu:0:57
	movl	-2228(%rbp), %esi               # 4-byte Reload
	movl	-2212(%rbp), %edi               # 4-byte Reload
	.loc	3 16 40                         # boxpresso/train/solver.cu:16:40
	callq	_ZL3minIiET_S0_S0_
	movq	-2224(%rbp), %rdi               # 8-byte Reload
	movl	%eax, %esi
	.loc	3 16 71                         # boxpresso/train/solver.cu:16:71
	leaq	-2072(%rbp), %rax
	movq	%rax, -2128(%rbp)
	.loc	3 16 24                         # boxpresso/train/solver.cu:16:24
	movq	-2128(%rbp), %rdx
	callq	_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_
	.loc	3 16 18                         # boxpresso/train/solver.cu:16:18
	vmovsd	%xmm0, -2120(%rbp)
.Ltmp4:
	.loc	3 17 17 is_stmt 1               # boxpresso/train/solver.cu:17:17
	movl	$0, -2132(%rbp)
.LBB0_13:                               #   Parent Loop BB0_3 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
.Ltmp5:
	.loc	3 17 5 is_stmt 0                # boxpresso/train/solver.cu:17:5
	cmpl	$1, -2132(%rbp)
.Ltmp6:
	.loc	3 17 5                          # boxpresso/train/solver.cu:17:5
	jge	.LBB0_22
# %bb.14:                               #   in Loop: Header=BB0_13 Depth=2
.Ltmp7:
	.loc	3 17 36                         # boxpresso/train/solver.cu:17:36
	vmovsd	-2120(%rbp), %xmm0              # xmm0 = mem[0],zero
	vmovsd	%xmm0, -2264(%rbp)              # 8-byte Spill
	.loc	3 17 23                         # boxpresso/train/solver.cu:17:23
	movq	-2096(%rbp), %rsi
	movq	%rsi, -2256(%rbp)               # 8-byte Spill
	.loc	3 17 31                         # boxpresso/train/solver.cu:17:31
	movslq	-2108(%rbp), %rdi
	.loc	3 17 34                         # boxpresso/train/solver.cu:17:34
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -2248(%rbp)               # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -2240(%rbp)               # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB0_16
# %bb.15:                               #   in Loop: Header=BB0_13 Depth=2
	.loc	3 0 34                          # boxpresso/train/solver.cu:0:34
	movq	-2248(%rbp), %rdx               # 8-byte Reload
	movq	-2256(%rbp), %rsi               # 8-byte Reload
	.loc	3 17 34                         # boxpresso/train/solver.cu:17:34
	leaq	.L__unnamed_6(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB0_16:                               #   in Loop: Header=BB0_13 Depth=2
	.loc	3 0 34                          # boxpresso/train/solver.cu:0:34
	movq	-2240(%rbp), %rcx               # 8-byte Reload
	.loc	3 17 34                         # boxpresso/train/solver.cu:17:34
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB0_18
# %bb.17:                               #   in Loop: Header=BB0_13 Depth=2
	.loc	3 0 34                          # boxpresso/train/solver.cu:0:34
	movq	-2240(%rbp), %rsi               # 8-byte Reload
	.loc	3 17 34                         # boxpresso/train/solver.cu:17:34
	leaq	.L__unnamed_7(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB0_18:                               #   in Loop: Header=BB0_13 Depth=2
	.loc	3 0 34                          # boxpresso/train/solver.cu:0:34
	movq	-2240(%rbp), %rax               # 8-byte Reload
	vmovsd	-2264(%rbp), %xmm0              # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	3 17 34                         # boxpresso/train/solver.cu:17:34
	vmovsd	%xmm0, (%rax)
# %bb.19:                               #   in Loop: Header=BB0_13 Depth=2
	.loc	3 17 5                          # boxpresso/train/solver.cu:17:5
	movl	-2132(%rbp), %eax
	movl	%eax, -2272(%rbp)               # 4-byte Spill
	incl	%eax
	movl	%eax, -2268(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_21
# %bb.20:                               #   in Loop: Header=BB0_13 Depth=2
	.loc	3 0 5                           # boxpresso/train/solver.cu:0:5
	movl	-2272(%rbp), %eax               # 4-byte Reload
	.loc	3 17 5                          # boxpresso/train/solver.cu:17:5
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_8(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB0_21:                               #   in Loop: Header=BB0_13 Depth=2
	.loc	3 0 5                           # boxpresso/train/solver.cu:0:5
	movl	-2268(%rbp), %eax               # 4-byte Reload
	.loc	3 17 5                          # boxpresso/train/solver.cu:17:5
	movl	%eax, -2132(%rbp)
	jmp	.LBB0_13
.Ltmp8:
.LBB0_22:                               #   in Loop: Header=BB0_3 Depth=1
	.loc	3 18 3 is_stmt 1                # boxpresso/train/solver.cu:18:3
	jmp	.LBB0_23
.Ltmp9:
.LBB0_23:                               #   in Loop: Header=BB0_3 Depth=1
	.loc	3 13 3                          # boxpresso/train/solver.cu:13:3
	movl	-2108(%rbp), %eax
	movl	%eax, -2280(%rbp)               # 4-byte Spill
	incl	%eax
	movl	%eax, -2276(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_25
# %bb.24:                               #   in Loop: Header=BB0_3 Depth=1
	.loc	3 0 3 is_stmt 0                 # boxpresso/train/solver.cu:0:3
	movl	-2280(%rbp), %eax               # 4-byte Reload
	.loc	3 13 3                          # boxpresso/train/solver.cu:13:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_9(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB0_25:                               #   in Loop: Header=BB0_3 Depth=1
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-2276(%rbp), %eax               # 4-byte Reload
	.loc	3 13 3                          # boxpresso/train/solver.cu:13:3
	movl	%eax, -2108(%rbp)
	jmp	.LBB0_3
.Ltmp10:
.LBB0_26:
	.loc	3 19 1 is_stmt 1                # boxpresso/train/solver.cu:19:1
	movq	%fs:40, %rax
	movq	-8(%rbp), %rcx
	cmpq	%rcx, %rax
	jne	.LBB0_28
# %bb.27:
	.loc	3 19 1 epilogue_begin is_stmt 0 # boxpresso/train/solver.cu:19:1
	addq	$2288, %rsp                     # imm = 0x8F0
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.LBB0_28:
	.cfi_def_cfa %rbp, 16
	.loc	3 0 0                           # boxpresso/train/solver.cu:0
	callq	__stack_chk_fail@PLT
.Ltmp11:
.Lfunc_end0:
	.size	square_sums, .Lfunc_end0-square_sums
	.cfi_endproc
                                        # -- End function
	.p2align	4                               # -- Begin function _ZL8share_ofii
	.type	_ZL8share_ofii,@function
_ZL8share_ofii:                         # @_ZL8share_ofii
.Lfunc_begin1:
	.loc	1 57 0 is_stmt 1                # boxpresso/device/kernel.h:57:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$48, %rsp
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
.Ltmp12:
	.loc	1 57 60 prologue_end            # boxpresso/device/kernel.h:57:60
	movslq	-4(%rbp), %rax
	movq	%rax, -32(%rbp)                 # 8-byte Spill
	.loc	1 57 64 is_stmt 0               # boxpresso/device/kernel.h:57:64
	movslq	-8(%rbp), %rcx
	movq	%rcx, -24(%rbp)                 # 8-byte Spill
	.loc	1 57 62                         # boxpresso/device/kernel.h:57:62
	imulq	%rcx, %rax
	movq	%rax, -16(%rbp)                 # 8-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB1_2
# %bb.1:
	.loc	1 0 62                          # boxpresso/device/kernel.h:0:62
	movq	-24(%rbp), %rdx                 # 8-byte Reload
	movq	-32(%rbp), %rsi                 # 8-byte Reload
	.loc	1 57 62                         # boxpresso/device/kernel.h:57:62
	leaq	.L__unnamed_10(%rip), %rdi
	callq	__ubsan_handle_mul_overflow@PLT
.LBB1_2:
	.loc	1 57 69                         # boxpresso/device/kernel.h:57:69
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movq	-16(%rbp), %rcx                 # 8-byte Reload
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	movslq	(%rax), %rdx
	movq	%rdx, -40(%rbp)                 # 8-byte Spill
	.loc	1 57 67                         # boxpresso/device/kernel.h:57:67
	cmpq	$0, %rdx
	setne	%al
	movabsq	$-9223372036854775808, %rsi     # imm = 0x8000000000000000
	cmpq	%rsi, %rcx
	setne	%cl
	cmpq	$-1, %rdx
	setne	%dl
	orb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB1_4
# %bb.3:
	.loc	1 0 67                          # boxpresso/device/kernel.h:0:67
	movq	-40(%rbp), %rdx                 # 8-byte Reload
	movq	-16(%rbp), %rsi                 # 8-byte Reload
	.loc	1 57 67                         # boxpresso/device/kernel.h:57:67
	leaq	.L__unnamed_11(%rip), %rdi
	callq	__ubsan_handle_divrem_overflow@PLT
.LBB1_4:
	.loc	1 0 67                          # boxpresso/device/kernel.h:0:67
	movq	-40(%rbp), %rcx                 # 8-byte Reload
	movq	-16(%rbp), %rax                 # 8-byte Reload
	.loc	1 57 67                         # boxpresso/device/kernel.h:57:67
	cqto
	idivq	%rcx
                                        # kill: def $eax killed $eax killed $rax
	.loc	1 57 38 epilogue_begin          # boxpresso/device/kernel.h:57:38
	addq	$48, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp13:
.Lfunc_end1:
	.size	_ZL8share_ofii, .Lfunc_end1-_ZL8share_ofii
	.cfi_endproc
                                        # -- End function
	.p2align	4                               # -- Begin function _ZL9block_sumIZ11square_sumsE3$_0EdPdiT_
	.type	_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_,@function
_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_: # @"_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_"
.Lfunc_begin2:
	.loc	2 9 0 is_stmt 1                 # boxpresso/device/sum.h:9:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$304, %rsp                      # imm = 0x130
	movq	%fs:40, %rax
	movq	%rax, -8(%rbp)
	movq	%rdx, -16(%rbp)
	movq	%rdi, -24(%rbp)
	movl	%esi, -28(%rbp)
.Ltmp14:
	.loc	2 10 7 prologue_end             # boxpresso/device/sum.h:10:7
	movl	$256, -32(%rbp)                 # imm = 0x100
.LBB2_1:                                # =>This Inner Loop Header: Depth=1
	.loc	2 11 10                         # boxpresso/device/sum.h:11:10
	movl	-32(%rbp), %eax
	movl	%eax, -68(%rbp)                 # 4-byte Spill
	.loc	2 11 16 is_stmt 0               # boxpresso/device/sum.h:11:16
	cmpl	$-2147483648, %eax              # imm = 0x80000000
	setne	%al
	orb	$-1, %al
	andb	$1, %al
	testb	$1, %al
	jne	.LBB2_3
# %bb.2:                                #   in Loop: Header=BB2_1 Depth=1
	.loc	2 0 16                          # boxpresso/device/sum.h:0:16
	movl	-68(%rbp), %eax                 # 4-byte Reload
	.loc	2 11 16                         # boxpresso/device/sum.h:11:16
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_12(%rip), %rdi
	movl	$2, %edx
	callq	__ubsan_handle_divrem_overflow@PLT
.LBB2_3:                                #   in Loop: Header=BB2_1 Depth=1
	.loc	2 0 16                          # boxpresso/device/sum.h:0:16
	movl	-68(%rbp), %eax                 # 4-byte Reload
	.loc	2 11 16                         # boxpresso/device/sum.h:11:16
	movl	$2, %ecx
	cltd
	idivl	%ecx
	movl	%eax, %ecx
	.loc	2 11 20                         # boxpresso/device/sum.h:11:20
	xorl	%eax, %eax
                                        # kill: def $al killed $al killed $eax
	cmpl	-28(%rbp), %ecx
	movb	%al, -69(%rbp)                  # 1-byte Spill
	.loc	2 11 29                         # boxpresso/device/sum.h:11:29
	jl	.LBB2_5
# %bb.4:                                #   in Loop: Header=BB2_1 Depth=1
	.loc	2 11 38                         # boxpresso/device/sum.h:11:38
	cmpl	$1, -32(%rbp)
	setg	%al
	movb	%al, -69(%rbp)                  # 1-byte Spill
.LBB2_5:                                #   in Loop: Header=BB2_1 Depth=1
	.loc	2 0 38                          # boxpresso/device/sum.h:0:38
	movb	-69(%rbp), %al                  # 1-byte Reload
	.loc	2 11 3                          # boxpresso/device/sum.h:11:3
	testb	$1, %al
	jne	.LBB2_6
	jmp	.LBB2_9
.LBB2_6:                                #   in Loop: Header=BB2_1 Depth=1
	.loc	2 11 49                         # boxpresso/device/sum.h:11:49
	movl	-32(%rbp), %eax
	movl	%eax, -76(%rbp)                 # 4-byte Spill
	cmpl	$-2147483648, %eax              # imm = 0x80000000
	setne	%al
	orb	$-1, %al
	andb	$1, %al
	testb	$1, %al
	jne	.LBB2_8
# %bb.7:                                #   in Loop: Header=BB2_1 Depth=1
	.loc	2 0 49                          # boxpresso/device/sum.h:0:49
	movl	-76(%rbp), %eax                 # 4-byte Reload
	.loc	2 11 49                         # boxpresso/device/sum.h:11:49
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_13(%rip), %rdi
	movl	$2, %edx
	callq	__ubsan_handle_divrem_overflow@PLT
.LBB2_8:                                #   in Loop: Header=BB2_1 Depth=1
	.loc	2 0 49                          # boxpresso/device/sum.h:0:49
	movl	-76(%rbp), %eax                 # 4-byte Reload
	.loc	2 11 49                         # boxpresso/device/sum.h:11:49
	movl	$2, %ecx
	cltd
	idivl	%ecx
	movl	%eax, -32(%rbp)
	.loc	2 11 3                          # boxpresso/device/sum.h:11:3
	jmp	.LBB2_1
.LBB2_9:
.Ltmp15:
	.loc	2 12 15 is_stmt 1               # boxpresso/device/sum.h:12:15
	movl	$0, -36(%rbp)
.LBB2_10:                               # =>This Inner Loop Header: Depth=1
.Ltmp16:
	.loc	2 12 15 is_stmt 0               # boxpresso/device/sum.h:12:15
	movl	-36(%rbp), %eax
	.loc	2 12 3                          # boxpresso/device/sum.h:12:3
	cmpl	-32(%rbp), %eax
.Ltmp17:
	.loc	2 12 3                          # boxpresso/device/sum.h:12:3
	jge	.LBB2_19
# %bb.11:                               #   in Loop: Header=BB2_10 Depth=1
.Ltmp18:
	.loc	2 12 25                         # boxpresso/device/sum.h:12:25
	movq	-24(%rbp), %rsi
	movq	%rsi, -104(%rbp)                # 8-byte Spill
	.loc	2 12 30                         # boxpresso/device/sum.h:12:30
	movslq	-36(%rbp), %rdi
	.loc	2 12 33                         # boxpresso/device/sum.h:12:33
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -96(%rbp)                 # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -88(%rbp)                 # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_13
# %bb.12:                               #   in Loop: Header=BB2_10 Depth=1
	.loc	2 0 33                          # boxpresso/device/sum.h:0:33
	movq	-96(%rbp), %rdx                 # 8-byte Reload
	movq	-104(%rbp), %rsi                # 8-byte Reload
	.loc	2 12 33                         # boxpresso/device/sum.h:12:33
	leaq	.L__unnamed_14(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB2_13:                               #   in Loop: Header=BB2_10 Depth=1
	.loc	2 0 33                          # boxpresso/device/sum.h:0:33
	movq	-88(%rbp), %rcx                 # 8-byte Reload
	.loc	2 12 33                         # boxpresso/device/sum.h:12:33
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_15
# %bb.14:                               #   in Loop: Header=BB2_10 Depth=1
	.loc	2 0 33                          # boxpresso/device/sum.h:0:33
	movq	-88(%rbp), %rsi                 # 8-byte Reload
	.loc	2 12 33                         # boxpresso/device/sum.h:12:33
	leaq	.L__unnamed_15(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB2_15:                               #   in Loop: Header=BB2_10 Depth=1
	.loc	2 0 33                          # boxpresso/device/sum.h:0:33
	movq	-88(%rbp), %rax                 # 8-byte Reload
	.loc	2 12 33                         # boxpresso/device/sum.h:12:33
	vpxor	%xmm0, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.16:                               #   in Loop: Header=BB2_10 Depth=1
	.loc	2 12 3                          # boxpresso/device/sum.h:12:3
	movl	-36(%rbp), %eax
	movl	%eax, -112(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -108(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_18
# %bb.17:                               #   in Loop: Header=BB2_10 Depth=1
	.loc	2 0 3                           # boxpresso/device/sum.h:0:3
	movl	-112(%rbp), %eax                # 4-byte Reload
	.loc	2 12 3                          # boxpresso/device/sum.h:12:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_16(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_18:                               #   in Loop: Header=BB2_10 Depth=1
	.loc	2 0 3                           # boxpresso/device/sum.h:0:3
	movl	-108(%rbp), %eax                # 4-byte Reload
	.loc	2 12 3                          # boxpresso/device/sum.h:12:3
	movl	%eax, -36(%rbp)
	jmp	.LBB2_10
.Ltmp19:
.LBB2_19:
	.loc	2 13 12 is_stmt 1               # boxpresso/device/sum.h:13:12
	movl	$0, -40(%rbp)
.LBB2_20:                               # =>This Loop Header: Depth=1
                                        #     Child Loop BB2_22 Depth 2
.Ltmp20:
	.loc	2 13 19 is_stmt 0               # boxpresso/device/sum.h:13:19
	movl	-40(%rbp), %eax
	.loc	2 13 21                         # boxpresso/device/sum.h:13:21
	cmpl	-28(%rbp), %eax
.Ltmp21:
	.loc	2 13 3                          # boxpresso/device/sum.h:13:3
	jge	.LBB2_39
# %bb.21:                               #   in Loop: Header=BB2_20 Depth=1
.Ltmp22:
	.loc	2 13 54                         # boxpresso/device/sum.h:13:54
	movl	$0, -44(%rbp)
.LBB2_22:                               #   Parent Loop BB2_20 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
.Ltmp23:
	.loc	2 13 54                         # boxpresso/device/sum.h:13:54
	movl	-44(%rbp), %eax
	movl	%eax, -128(%rbp)                # 4-byte Spill
	.loc	2 13 68                         # boxpresso/device/sum.h:13:68
	movl	-28(%rbp), %eax
	movl	%eax, -124(%rbp)                # 4-byte Spill
	.loc	2 13 76                         # boxpresso/device/sum.h:13:76
	movl	-40(%rbp), %ecx
	movl	%ecx, -120(%rbp)                # 4-byte Spill
	.loc	2 13 74                         # boxpresso/device/sum.h:13:74
	subl	%ecx, %eax
	movl	%eax, -116(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_24
# %bb.23:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 0 74                          # boxpresso/device/sum.h:0:74
	movl	-120(%rbp), %eax                # 4-byte Reload
	movl	-124(%rbp), %ecx                # 4-byte Reload
	.loc	2 13 74                         # boxpresso/device/sum.h:13:74
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_17(%rip), %rdi
	callq	__ubsan_handle_sub_overflow@PLT
.LBB2_24:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 0 74                          # boxpresso/device/sum.h:0:74
	movl	-116(%rbp), %esi                # 4-byte Reload
	.loc	2 13 57                         # boxpresso/device/sum.h:13:57
	movl	$256, %edi                      # imm = 0x100
	callq	_ZL3minIiET_S0_S0_
	movl	%eax, %ecx
	movl	-128(%rbp), %eax                # 4-byte Reload
	.loc	2 13 42                         # boxpresso/device/sum.h:13:42
	cmpl	%ecx, %eax
.Ltmp24:
	.loc	2 13 42                         # boxpresso/device/sum.h:13:42
	jge	.LBB2_35
# %bb.25:                               #   in Loop: Header=BB2_22 Depth=2
.Ltmp25:
	.loc	2 13 104                        # boxpresso/device/sum.h:13:104
	movl	-40(%rbp), %eax
	movl	%eax, -140(%rbp)                # 4-byte Spill
	.loc	2 13 108                        # boxpresso/device/sum.h:13:108
	movl	-44(%rbp), %ecx
	movl	%ecx, -136(%rbp)                # 4-byte Spill
	.loc	2 13 106                        # boxpresso/device/sum.h:13:106
	addl	%ecx, %eax
	movl	%eax, -132(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_27
# %bb.26:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 0 106                         # boxpresso/device/sum.h:0:106
	movl	-136(%rbp), %eax                # 4-byte Reload
	movl	-140(%rbp), %ecx                # 4-byte Reload
	.loc	2 13 106                        # boxpresso/device/sum.h:13:106
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_18(%rip), %rdi
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_27:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 0 106                         # boxpresso/device/sum.h:0:106
	movl	-132(%rbp), %esi                # 4-byte Reload
	leaq	-16(%rbp), %rdi
	.loc	2 13 98                         # boxpresso/device/sum.h:13:98
	callq	_ZZ11square_sumsENK3$_0clEi
	vmovsd	%xmm0, -176(%rbp)               # 8-byte Spill
	.loc	2 13 80                         # boxpresso/device/sum.h:13:80
	movq	-24(%rbp), %rsi
	movq	%rsi, -168(%rbp)                # 8-byte Spill
	.loc	2 13 85                         # boxpresso/device/sum.h:13:85
	movslq	-44(%rbp), %rdi
	.loc	2 13 88                         # boxpresso/device/sum.h:13:88
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -160(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -152(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_29
# %bb.28:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 0 88                          # boxpresso/device/sum.h:0:88
	movq	-160(%rbp), %rdx                # 8-byte Reload
	movq	-168(%rbp), %rsi                # 8-byte Reload
	.loc	2 13 88                         # boxpresso/device/sum.h:13:88
	leaq	.L__unnamed_19(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB2_29:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 0 88                          # boxpresso/device/sum.h:0:88
	movq	-152(%rbp), %rcx                # 8-byte Reload
	.loc	2 13 88                         # boxpresso/device/sum.h:13:88
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_31
# %bb.30:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 0 88                          # boxpresso/device/sum.h:0:88
	movq	-152(%rbp), %rsi                # 8-byte Reload
	.loc	2 13 88                         # boxpresso/device/sum.h:13:88
	leaq	.L__unnamed_20(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB2_31:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 0 88                          # boxpresso/device/sum.h:0:88
	movq	-152(%rbp), %rax                # 8-byte Reload
	vmovsd	-176(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	2 13 88                         # boxpresso/device/sum.h:13:88
	vaddsd	(%rax), %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.32:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 13 42                         # boxpresso/device/sum.h:13:42
	movl	-44(%rbp), %eax
	movl	%eax, -184(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -180(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_34
# %bb.33:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 0 42                          # boxpresso/device/sum.h:0:42
	movl	-184(%rbp), %eax                # 4-byte Reload
	.loc	2 13 42                         # boxpresso/device/sum.h:13:42
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_21(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_34:                               #   in Loop: Header=BB2_22 Depth=2
	.loc	2 0 42                          # boxpresso/device/sum.h:0:42
	movl	-180(%rbp), %eax                # 4-byte Reload
	.loc	2 13 42                         # boxpresso/device/sum.h:13:42
	movl	%eax, -44(%rbp)
	jmp	.LBB2_22
.Ltmp26:
.LBB2_35:                               #   in Loop: Header=BB2_20 Depth=1
	.loc	2 13 110                        # boxpresso/device/sum.h:13:110
	jmp	.LBB2_36
.Ltmp27:
.LBB2_36:                               #   in Loop: Header=BB2_20 Depth=1
	.loc	2 13 32                         # boxpresso/device/sum.h:13:32
	movl	-40(%rbp), %eax
	movl	%eax, -192(%rbp)                # 4-byte Spill
	addl	$256, %eax                      # imm = 0x100
	movl	%eax, -188(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_38
# %bb.37:                               #   in Loop: Header=BB2_20 Depth=1
	.loc	2 0 32                          # boxpresso/device/sum.h:0:32
	movl	-192(%rbp), %eax                # 4-byte Reload
	.loc	2 13 32                         # boxpresso/device/sum.h:13:32
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_22(%rip), %rdi
	movl	$256, %edx                      # imm = 0x100
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_38:                               #   in Loop: Header=BB2_20 Depth=1
	.loc	2 0 32                          # boxpresso/device/sum.h:0:32
	movl	-188(%rbp), %eax                # 4-byte Reload
	.loc	2 13 32                         # boxpresso/device/sum.h:13:32
	movl	%eax, -40(%rbp)
	.loc	2 13 3                          # boxpresso/device/sum.h:13:3
	jmp	.LBB2_20
.Ltmp28:
.LBB2_39:
	.loc	2 15 19 is_stmt 1               # boxpresso/device/sum.h:15:19
	movl	-32(%rbp), %eax
	movl	%eax, -196(%rbp)                # 4-byte Spill
	.loc	2 15 25 is_stmt 0               # boxpresso/device/sum.h:15:25
	cmpl	$-2147483648, %eax              # imm = 0x80000000
	setne	%al
	orb	$-1, %al
	andb	$1, %al
	testb	$1, %al
	jne	.LBB2_41
# %bb.40:
	.loc	2 0 25                          # boxpresso/device/sum.h:0:25
	movl	-196(%rbp), %eax                # 4-byte Reload
	.loc	2 15 25                         # boxpresso/device/sum.h:15:25
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_23(%rip), %rdi
	movl	$2, %edx
	callq	__ubsan_handle_divrem_overflow@PLT
.LBB2_41:
	.loc	2 0 25                          # boxpresso/device/sum.h:0:25
	movl	-196(%rbp), %eax                # 4-byte Reload
	.loc	2 15 25                         # boxpresso/device/sum.h:15:25
	movl	$2, %ecx
	cltd
	idivl	%ecx
	.loc	2 15 12                         # boxpresso/device/sum.h:15:12
	movl	%eax, -48(%rbp)
.LBB2_42:                               # =>This Loop Header: Depth=1
                                        #     Child Loop BB2_44 Depth 2
.Ltmp29:
	.loc	2 15 35                         # boxpresso/device/sum.h:15:35
	cmpl	$0, -48(%rbp)
.Ltmp30:
	.loc	2 15 3                          # boxpresso/device/sum.h:15:3
	jle	.LBB2_63
# %bb.43:                               #   in Loop: Header=BB2_42 Depth=1
.Ltmp31:
	.loc	2 16 17 is_stmt 1               # boxpresso/device/sum.h:16:17
	movl	$0, -52(%rbp)
.LBB2_44:                               #   Parent Loop BB2_42 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
.Ltmp32:
	.loc	2 16 17 is_stmt 0               # boxpresso/device/sum.h:16:17
	movl	-52(%rbp), %eax
	.loc	2 16 5                          # boxpresso/device/sum.h:16:5
	cmpl	-48(%rbp), %eax
.Ltmp33:
	.loc	2 16 5                          # boxpresso/device/sum.h:16:5
	jge	.LBB2_59
# %bb.45:                               #   in Loop: Header=BB2_44 Depth=2
.Ltmp34:
	.loc	2 16 37                         # boxpresso/device/sum.h:16:37
	movq	-24(%rbp), %rax
	movq	%rax, -216(%rbp)                # 8-byte Spill
	.loc	2 16 42                         # boxpresso/device/sum.h:16:42
	movl	-52(%rbp), %eax
	movl	%eax, -208(%rbp)                # 4-byte Spill
	.loc	2 16 46                         # boxpresso/device/sum.h:16:46
	movl	-48(%rbp), %ecx
	movl	%ecx, -204(%rbp)                # 4-byte Spill
	.loc	2 16 44                         # boxpresso/device/sum.h:16:44
	addl	%ecx, %eax
	movl	%eax, -200(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_47
# %bb.46:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 44                          # boxpresso/device/sum.h:0:44
	movl	-204(%rbp), %eax                # 4-byte Reload
	movl	-208(%rbp), %ecx                # 4-byte Reload
	.loc	2 16 44                         # boxpresso/device/sum.h:16:44
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_24(%rip), %rdi
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_47:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 44                          # boxpresso/device/sum.h:0:44
	movq	-216(%rbp), %rsi                # 8-byte Reload
	movl	-200(%rbp), %eax                # 4-byte Reload
	.loc	2 16 37                         # boxpresso/device/sum.h:16:37
	movslq	%eax, %rdi
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -240(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -232(%rbp)                # 8-byte Spill
	movq	%rsi, %rax
	movq	%rax, -224(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_49
# %bb.48:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 37                          # boxpresso/device/sum.h:0:37
	movq	-240(%rbp), %rdx                # 8-byte Reload
	movq	-224(%rbp), %rsi                # 8-byte Reload
	.loc	2 16 37                         # boxpresso/device/sum.h:16:37
	leaq	.L__unnamed_25(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB2_49:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 37                          # boxpresso/device/sum.h:0:37
	movq	-232(%rbp), %rcx                # 8-byte Reload
	.loc	2 16 37                         # boxpresso/device/sum.h:16:37
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_51
# %bb.50:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 37                          # boxpresso/device/sum.h:0:37
	movq	-232(%rbp), %rsi                # 8-byte Reload
	.loc	2 16 37                         # boxpresso/device/sum.h:16:37
	leaq	.L__unnamed_26(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB2_51:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 37                          # boxpresso/device/sum.h:0:37
	movq	-232(%rbp), %rax                # 8-byte Reload
	.loc	2 16 37                         # boxpresso/device/sum.h:16:37
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -272(%rbp)               # 8-byte Spill
	.loc	2 16 26                         # boxpresso/device/sum.h:16:26
	movq	-24(%rbp), %rsi
	movq	%rsi, -264(%rbp)                # 8-byte Spill
	.loc	2 16 31                         # boxpresso/device/sum.h:16:31
	movslq	-52(%rbp), %rdi
	.loc	2 16 34                         # boxpresso/device/sum.h:16:34
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -256(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -248(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_53
# %bb.52:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 34                          # boxpresso/device/sum.h:0:34
	movq	-256(%rbp), %rdx                # 8-byte Reload
	movq	-264(%rbp), %rsi                # 8-byte Reload
	.loc	2 16 34                         # boxpresso/device/sum.h:16:34
	leaq	.L__unnamed_27(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB2_53:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 34                          # boxpresso/device/sum.h:0:34
	movq	-248(%rbp), %rcx                # 8-byte Reload
	.loc	2 16 34                         # boxpresso/device/sum.h:16:34
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_55
# %bb.54:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 34                          # boxpresso/device/sum.h:0:34
	movq	-248(%rbp), %rsi                # 8-byte Reload
	.loc	2 16 34                         # boxpresso/device/sum.h:16:34
	leaq	.L__unnamed_28(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB2_55:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 34                          # boxpresso/device/sum.h:0:34
	movq	-248(%rbp), %rax                # 8-byte Reload
	vmovsd	-272(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	2 16 34                         # boxpresso/device/sum.h:16:34
	vaddsd	(%rax), %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.56:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 16 5                          # boxpresso/device/sum.h:16:5
	movl	-52(%rbp), %eax
	movl	%eax, -280(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -276(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_58
# %bb.57:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 5                           # boxpresso/device/sum.h:0:5
	movl	-280(%rbp), %eax                # 4-byte Reload
	.loc	2 16 5                          # boxpresso/device/sum.h:16:5
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_29(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_58:                               #   in Loop: Header=BB2_44 Depth=2
	.loc	2 0 5                           # boxpresso/device/sum.h:0:5
	movl	-276(%rbp), %eax                # 4-byte Reload
	.loc	2 16 5                          # boxpresso/device/sum.h:16:5
	movl	%eax, -52(%rbp)
	jmp	.LBB2_44
.Ltmp35:
.LBB2_59:                               #   in Loop: Header=BB2_42 Depth=1
	.loc	2 18 3 is_stmt 1                # boxpresso/device/sum.h:18:3
	jmp	.LBB2_60
.Ltmp36:
.LBB2_60:                               #   in Loop: Header=BB2_42 Depth=1
	.loc	2 15 45                         # boxpresso/device/sum.h:15:45
	movl	-48(%rbp), %eax
	movl	%eax, -284(%rbp)                # 4-byte Spill
	cmpl	$-2147483648, %eax              # imm = 0x80000000
	setne	%al
	orb	$-1, %al
	andb	$1, %al
	testb	$1, %al
	jne	.LBB2_62
# %bb.61:                               #   in Loop: Header=BB2_42 Depth=1
	.loc	2 0 45 is_stmt 0                # boxpresso/device/sum.h:0:45
	movl	-284(%rbp), %eax                # 4-byte Reload
	.loc	2 15 45                         # boxpresso/device/sum.h:15:45
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_30(%rip), %rdi
	movl	$2, %edx
	callq	__ubsan_handle_divrem_overflow@PLT
.LBB2_62:                               #   in Loop: Header=BB2_42 Depth=1
	.loc	2 0 45                          # boxpresso/device/sum.h:0:45
	movl	-284(%rbp), %eax                # 4-byte Reload
	.loc	2 15 45                         # boxpresso/device/sum.h:15:45
	movl	$2, %ecx
	cltd
	idivl	%ecx
	movl	%eax, -48(%rbp)
	.loc	2 15 3                          # boxpresso/device/sum.h:15:3
	jmp	.LBB2_42
.Ltmp37:
.LBB2_63:
	.loc	2 19 22 is_stmt 1               # boxpresso/device/sum.h:19:22
	movq	-24(%rbp), %rcx
	movq	%rcx, -296(%rbp)                # 8-byte Spill
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_65
# %bb.64:
	.loc	2 0 22 is_stmt 0                # boxpresso/device/sum.h:0:22
	movq	-296(%rbp), %rsi                # 8-byte Reload
	.loc	2 19 22                         # boxpresso/device/sum.h:19:22
	leaq	.L__unnamed_31(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB2_65:
	.loc	2 0 22                          # boxpresso/device/sum.h:0:22
	movq	-296(%rbp), %rax                # 8-byte Reload
	.loc	2 19 22                         # boxpresso/device/sum.h:19:22
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	.loc	2 19 16                         # boxpresso/device/sum.h:19:16
	vmovsd	%xmm0, -64(%rbp)
	.loc	2 21 10 is_stmt 1               # boxpresso/device/sum.h:21:10
	vmovsd	-64(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -304(%rbp)               # 8-byte Spill
	.loc	2 21 3 is_stmt 0                # boxpresso/device/sum.h:21:3
	movq	%fs:40, %rax
	movq	-8(%rbp), %rcx
	cmpq	%rcx, %rax
	jne	.LBB2_67
# %bb.66:
	.loc	2 0 3                           # boxpresso/device/sum.h:0:3
	vmovsd	-304(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	2 21 3 epilogue_begin           # boxpresso/device/sum.h:21:3
	addq	$304, %rsp                      # imm = 0x130
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.LBB2_67:
	.cfi_def_cfa %rbp, 16
	.loc	2 0 0                           # boxpresso/device/sum.h:0
	callq	__stack_chk_fail@PLT
.Ltmp38:
.Lfunc_end2:
	.size	_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_, .Lfunc_end2-_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_
	.cfi_endproc
                                        # -- End function
	.p2align	4                               # -- Begin function _ZL3minIiET_S0_S0_
	.type	_ZL3minIiET_S0_S0_,@function
_ZL3minIiET_S0_S0_:                     # @_ZL3minIiET_S0_S0_
.Lfunc_begin3:
	.loc	1 53 0 is_stmt 1                # boxpresso/device/kernel.h:53:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
.Ltmp39:
	.loc	1 53 33 prologue_end            # boxpresso/device/kernel.h:53:33
	movl	-8(%rbp), %eax
	.loc	1 53 35 is_stmt 0               # boxpresso/device/kernel.h:53:35
	cmpl	-4(%rbp), %eax
	.loc	1 53 33                         # boxpresso/device/kernel.h:53:33
	jge	.LBB3_2
# %bb.1:
	.loc	1 53 41                         # boxpresso/device/kernel.h:53:41
	movl	-8(%rbp), %eax
	movl	%eax, -12(%rbp)                 # 4-byte Spill
	.loc	1 53 33                         # boxpresso/device/kernel.h:53:33
	jmp	.LBB3_3
.LBB3_2:
	.loc	1 53 45                         # boxpresso/device/kernel.h:53:45
	movl	-4(%rbp), %eax
	movl	%eax, -12(%rbp)                 # 4-byte Spill
.LBB3_3:
	.loc	1 0 45                          # boxpresso/device/kernel.h:0:45
	movl	-12(%rbp), %eax                 # 4-byte Reload
	.loc	1 53 26 epilogue_begin          # boxpresso/device/kernel.h:53:26
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp40:
.Lfunc_end3:
	.size	_ZL3minIiET_S0_S0_, .Lfunc_end3-_ZL3minIiET_S0_S0_
	.cfi_endproc
                                        # -- End function
	.globl	sgd                             # -- Begin function sgd
	.p2align	4
	.type	sgd,@function
sgd:                                    # @sgd
.Lfunc_begin4:
	.loc	3 22 0 is_stmt 1                # boxpresso/train/solver.cu:22:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$304, %rsp                      # imm = 0x130
	movl	%edi, -4(%rbp)
	movq	%rsi, -16(%rbp)
	movq	%rdx, -24(%rbp)
	movq	%rcx, -32(%rbp)
	vmovsd	%xmm0, -40(%rbp)
	vmovsd	%xmm1, -48(%rbp)
	movl	%r8d, -52(%rbp)
	vmovsd	%xmm2, -64(%rbp)
	vmovsd	%xmm3, -72(%rbp)
.Ltmp41:
	.loc	3 23 16 prologue_end            # boxpresso/train/solver.cu:23:16
	movl	-4(%rbp), %eax
	movl	%eax, -96(%rbp)                 # 4-byte Spill
	.loc	3 23 3 is_stmt 0                # boxpresso/train/solver.cu:23:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-96(%rbp), %edi                 # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	.loc	3 23 13                         # boxpresso/train/solver.cu:23:13
	movl	%eax, -76(%rbp)
	.loc	3 23 16                         # boxpresso/train/solver.cu:23:16
	movl	-4(%rbp), %eax
	movl	%eax, -92(%rbp)                 # 4-byte Spill
	.loc	3 23 3                          # boxpresso/train/solver.cu:23:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %eax
	movl	%eax, -88(%rbp)                 # 4-byte Spill
	incl	%eax
	movl	%eax, -84(%rbp)                 # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB4_2
# %bb.1:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-88(%rbp), %eax                 # 4-byte Reload
	.loc	3 23 3                          # boxpresso/train/solver.cu:23:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_32(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB4_2:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-84(%rbp), %esi                 # 4-byte Reload
	movl	-92(%rbp), %edi                 # 4-byte Reload
	.loc	3 23 3                          # boxpresso/train/solver.cu:23:3
	callq	_ZL8share_ofii
	movl	%eax, -80(%rbp)
.LBB4_3:                                # =>This Inner Loop Header: Depth=1
.Ltmp42:
	.loc	3 23 13                         # boxpresso/train/solver.cu:23:13
	movl	-76(%rbp), %eax
	.loc	3 23 3                          # boxpresso/train/solver.cu:23:3
	cmpl	-80(%rbp), %eax
.Ltmp43:
	.loc	3 23 3                          # boxpresso/train/solver.cu:23:3
	jge	.LBB4_32
# %bb.4:                                #   in Loop: Header=BB4_3 Depth=1
.Ltmp44:
	.loc	3 24 12 is_stmt 1               # boxpresso/train/solver.cu:24:12
	vmovsd	-64(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -128(%rbp)               # 8-byte Spill
	.loc	3 24 28 is_stmt 0               # boxpresso/train/solver.cu:24:28
	movq	-24(%rbp), %rsi
	movq	%rsi, -120(%rbp)                # 8-byte Spill
	.loc	3 24 33                         # boxpresso/train/solver.cu:24:33
	movslq	-76(%rbp), %rdi
	.loc	3 24 28                         # boxpresso/train/solver.cu:24:28
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -112(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -104(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_6
# %bb.5:                                #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 28                          # boxpresso/train/solver.cu:0:28
	movq	-112(%rbp), %rdx                # 8-byte Reload
	movq	-120(%rbp), %rsi                # 8-byte Reload
	.loc	3 24 28                         # boxpresso/train/solver.cu:24:28
	leaq	.L__unnamed_33(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_6:                                #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 28                          # boxpresso/train/solver.cu:0:28
	movq	-104(%rbp), %rcx                # 8-byte Reload
	.loc	3 24 28                         # boxpresso/train/solver.cu:24:28
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_8
# %bb.7:                                #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 28                          # boxpresso/train/solver.cu:0:28
	movq	-104(%rbp), %rsi                # 8-byte Reload
	.loc	3 24 28                         # boxpresso/train/solver.cu:24:28
	leaq	.L__unnamed_34(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_8:                                #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 28                          # boxpresso/train/solver.cu:0:28
	movq	-104(%rbp), %rax                # 8-byte Reload
	.loc	3 24 28                         # boxpresso/train/solver.cu:24:28
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -160(%rbp)               # 8-byte Spill
	.loc	3 24 37                         # boxpresso/train/solver.cu:24:37
	movq	-16(%rbp), %rsi
	movq	%rsi, -152(%rbp)                # 8-byte Spill
	.loc	3 24 39                         # boxpresso/train/solver.cu:24:39
	movslq	-76(%rbp), %rdi
	.loc	3 24 37                         # boxpresso/train/solver.cu:24:37
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -144(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -136(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_10
# %bb.9:                                #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 37                          # boxpresso/train/solver.cu:0:37
	movq	-144(%rbp), %rdx                # 8-byte Reload
	movq	-152(%rbp), %rsi                # 8-byte Reload
	.loc	3 24 37                         # boxpresso/train/solver.cu:24:37
	leaq	.L__unnamed_35(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_10:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 37                          # boxpresso/train/solver.cu:0:37
	movq	-136(%rbp), %rcx                # 8-byte Reload
	.loc	3 24 37                         # boxpresso/train/solver.cu:24:37
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_12
# %bb.11:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 37                          # boxpresso/train/solver.cu:0:37
	movq	-136(%rbp), %rsi                # 8-byte Reload
	.loc	3 24 37                         # boxpresso/train/solver.cu:24:37
	leaq	.L__unnamed_36(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_12:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 37                          # boxpresso/train/solver.cu:0:37
	vmovsd	-160(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-136(%rbp), %rax                # 8-byte Reload
	.loc	3 24 37                         # boxpresso/train/solver.cu:24:37
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	.loc	3 24 43                         # boxpresso/train/solver.cu:24:43
	vmovsd	-40(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 24 50                         # boxpresso/train/solver.cu:24:50
	vmovsd	-48(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	3 24 57                         # boxpresso/train/solver.cu:24:57
	movl	-52(%rbp), %edi
	.loc	3 24 19                         # boxpresso/train/solver.cu:24:19
	callq	_ZL8gradientddddi
	vmovsd	%xmm0, -200(%rbp)               # 8-byte Spill
	.loc	3 24 63                         # boxpresso/train/solver.cu:24:63
	vmovsd	-72(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -192(%rbp)               # 8-byte Spill
	.loc	3 24 74                         # boxpresso/train/solver.cu:24:74
	movq	-32(%rbp), %rsi
	movq	%rsi, -184(%rbp)                # 8-byte Spill
	.loc	3 24 76                         # boxpresso/train/solver.cu:24:76
	movslq	-76(%rbp), %rdi
	.loc	3 24 74                         # boxpresso/train/solver.cu:24:74
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -176(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -168(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_14
# %bb.13:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 74                          # boxpresso/train/solver.cu:0:74
	movq	-176(%rbp), %rdx                # 8-byte Reload
	movq	-184(%rbp), %rsi                # 8-byte Reload
	.loc	3 24 74                         # boxpresso/train/solver.cu:24:74
	leaq	.L__unnamed_37(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_14:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 74                          # boxpresso/train/solver.cu:0:74
	movq	-168(%rbp), %rcx                # 8-byte Reload
	.loc	3 24 74                         # boxpresso/train/solver.cu:24:74
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_16
# %bb.15:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 74                          # boxpresso/train/solver.cu:0:74
	movq	-168(%rbp), %rsi                # 8-byte Reload
	.loc	3 24 74                         # boxpresso/train/solver.cu:24:74
	leaq	.L__unnamed_38(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_16:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 74                          # boxpresso/train/solver.cu:0:74
	vmovsd	-128(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	-200(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	-192(%rbp), %xmm2               # 8-byte Reload
                                        # xmm2 = mem[0],zero
	movq	-168(%rbp), %rax                # 8-byte Reload
	.loc	3 24 74                         # boxpresso/train/solver.cu:24:74
	vmovsd	(%rax), %xmm3                   # xmm3 = mem[0],zero
	.loc	3 24 72                         # boxpresso/train/solver.cu:24:72
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 24 61                         # boxpresso/train/solver.cu:24:61
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -232(%rbp)               # 8-byte Spill
	.loc	3 24 5                          # boxpresso/train/solver.cu:24:5
	movq	-32(%rbp), %rsi
	movq	%rsi, -224(%rbp)                # 8-byte Spill
	.loc	3 24 7                          # boxpresso/train/solver.cu:24:7
	movslq	-76(%rbp), %rdi
	.loc	3 24 10                         # boxpresso/train/solver.cu:24:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -216(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -208(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_18
# %bb.17:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-216(%rbp), %rdx                # 8-byte Reload
	movq	-224(%rbp), %rsi                # 8-byte Reload
	.loc	3 24 10                         # boxpresso/train/solver.cu:24:10
	leaq	.L__unnamed_39(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_18:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-208(%rbp), %rcx                # 8-byte Reload
	.loc	3 24 10                         # boxpresso/train/solver.cu:24:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_20
# %bb.19:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-208(%rbp), %rsi                # 8-byte Reload
	.loc	3 24 10                         # boxpresso/train/solver.cu:24:10
	leaq	.L__unnamed_40(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_20:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-208(%rbp), %rax                # 8-byte Reload
	vmovsd	-232(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	3 24 10                         # boxpresso/train/solver.cu:24:10
	vmovsd	%xmm0, (%rax)
	.loc	3 25 13 is_stmt 1               # boxpresso/train/solver.cu:25:13
	movq	-32(%rbp), %rsi
	movq	%rsi, -256(%rbp)                # 8-byte Spill
	.loc	3 25 15 is_stmt 0               # boxpresso/train/solver.cu:25:15
	movslq	-76(%rbp), %rdi
	.loc	3 25 13                         # boxpresso/train/solver.cu:25:13
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -248(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -240(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_22
# %bb.21:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 13                          # boxpresso/train/solver.cu:0:13
	movq	-248(%rbp), %rdx                # 8-byte Reload
	movq	-256(%rbp), %rsi                # 8-byte Reload
	.loc	3 25 13                         # boxpresso/train/solver.cu:25:13
	leaq	.L__unnamed_41(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_22:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 13                          # boxpresso/train/solver.cu:0:13
	movq	-240(%rbp), %rcx                # 8-byte Reload
	.loc	3 25 13                         # boxpresso/train/solver.cu:25:13
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_24
# %bb.23:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 13                          # boxpresso/train/solver.cu:0:13
	movq	-240(%rbp), %rsi                # 8-byte Reload
	.loc	3 25 13                         # boxpresso/train/solver.cu:25:13
	leaq	.L__unnamed_42(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_24:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 13                          # boxpresso/train/solver.cu:0:13
	movq	-240(%rbp), %rax                # 8-byte Reload
	.loc	3 25 13                         # boxpresso/train/solver.cu:25:13
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -288(%rbp)               # 8-byte Spill
	.loc	3 25 5                          # boxpresso/train/solver.cu:25:5
	movq	-16(%rbp), %rsi
	movq	%rsi, -280(%rbp)                # 8-byte Spill
	.loc	3 25 7                          # boxpresso/train/solver.cu:25:7
	movslq	-76(%rbp), %rdi
	.loc	3 25 10                         # boxpresso/train/solver.cu:25:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -272(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -264(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_26
# %bb.25:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-272(%rbp), %rdx                # 8-byte Reload
	movq	-280(%rbp), %rsi                # 8-byte Reload
	.loc	3 25 10                         # boxpresso/train/solver.cu:25:10
	leaq	.L__unnamed_43(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_26:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-264(%rbp), %rcx                # 8-byte Reload
	.loc	3 25 10                         # boxpresso/train/solver.cu:25:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_28
# %bb.27:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-264(%rbp), %rsi                # 8-byte Reload
	.loc	3 25 10                         # boxpresso/train/solver.cu:25:10
	leaq	.L__unnamed_44(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_28:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-264(%rbp), %rax                # 8-byte Reload
	vmovsd	-288(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	.loc	3 25 10                         # boxpresso/train/solver.cu:25:10
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vsubsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
.Ltmp45:
# %bb.29:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 23 3 is_stmt 1                # boxpresso/train/solver.cu:23:3
	movl	-76(%rbp), %eax
	movl	%eax, -296(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -292(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB4_31
# %bb.30:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 3 is_stmt 0                 # boxpresso/train/solver.cu:0:3
	movl	-296(%rbp), %eax                # 4-byte Reload
	.loc	3 23 3                          # boxpresso/train/solver.cu:23:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_45(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB4_31:                               #   in Loop: Header=BB4_3 Depth=1
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-292(%rbp), %eax                # 4-byte Reload
	.loc	3 23 3                          # boxpresso/train/solver.cu:23:3
	movl	%eax, -76(%rbp)
	jmp	.LBB4_3
.Ltmp46:
.LBB4_32:
	.loc	3 27 1 epilogue_begin is_stmt 1 # boxpresso/train/solver.cu:27:1
	addq	$304, %rsp                      # imm = 0x130
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp47:
.Lfunc_end4:
	.size	sgd, .Lfunc_end4-sgd
	.cfi_endproc
                                        # -- End function
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0                          # -- Begin function _ZL8gradientddddi
.LCPI5_0:
	.quad	0xbff0000000000000              # double -1
.LCPI5_1:
	.quad	0x3ff0000000000000              # double 1
	.text
	.p2align	4
	.type	_ZL8gradientddddi,@function
_ZL8gradientddddi:                      # @_ZL8gradientddddi
.Lfunc_begin5:
	.loc	3 6 0                           # boxpresso/train/solver.cu:6:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	vmovsd	%xmm0, -8(%rbp)
	vmovsd	%xmm1, -16(%rbp)
	vmovsd	%xmm2, -24(%rbp)
	vmovsd	%xmm3, -32(%rbp)
	movl	%edi, -36(%rbp)
.Ltmp48:
	.loc	3 7 21 prologue_end             # boxpresso/train/solver.cu:7:21
	vmovsd	-16(%rbp), %xmm0                # xmm0 = mem[0],zero
	vpxor	%xmm1, %xmm1, %xmm1
	.loc	3 7 23 is_stmt 0                # boxpresso/train/solver.cu:7:23
	vucomisd	%xmm1, %xmm0
	.loc	3 7 21                          # boxpresso/train/solver.cu:7:21
	jbe	.LBB5_2
# %bb.1:
	vmovsd	.LCPI5_1(%rip), %xmm0           # xmm0 = [1.0E+0,0.0E+0]
	vmovsd	%xmm0, -56(%rbp)                # 8-byte Spill
	jmp	.LBB5_3
.LBB5_2:
	.loc	3 7 39                          # boxpresso/train/solver.cu:7:39
	vmovsd	-16(%rbp), %xmm1                # xmm1 = mem[0],zero
	vmovsd	.LCPI5_0(%rip), %xmm2           # xmm2 = [-1.0E+0,0.0E+0]
	vpxor	%xmm0, %xmm0, %xmm0
	vcmpltsd	%xmm0, %xmm1, %k1
                                        # implicit-def: $xmm1
	vmovsd	%xmm2, %xmm1, %xmm0 {%k1}
	vmovsd	%xmm0, -56(%rbp)                # 8-byte Spill
.LBB5_3:
	.loc	3 0 39                          # boxpresso/train/solver.cu:0:39
	vmovsd	-56(%rbp), %xmm0                # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	3 7 14                          # boxpresso/train/solver.cu:7:14
	vmovsd	%xmm0, -48(%rbp)
	.loc	3 8 10 is_stmt 1                # boxpresso/train/solver.cu:8:10
	vmovsd	-8(%rbp), %xmm0                 # xmm0 = mem[0],zero
	vmovsd	%xmm0, -80(%rbp)                # 8-byte Spill
	.loc	3 8 17 is_stmt 0                # boxpresso/train/solver.cu:8:17
	vmovsd	-24(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -72(%rbp)                # 8-byte Spill
	.loc	3 8 25                          # boxpresso/train/solver.cu:8:25
	vmovsd	-32(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -64(%rbp)                # 8-byte Spill
	.loc	3 8 34                          # boxpresso/train/solver.cu:8:34
	cmpl	$0, -36(%rbp)
	je	.LBB5_5
# %bb.4:
	.loc	3 8 39                          # boxpresso/train/solver.cu:8:39
	vmovsd	-48(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -88(%rbp)                # 8-byte Spill
	.loc	3 8 34                          # boxpresso/train/solver.cu:8:34
	jmp	.LBB5_6
.LBB5_5:
	.loc	3 8 46                          # boxpresso/train/solver.cu:8:46
	vmovsd	-16(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -88(%rbp)                # 8-byte Spill
.LBB5_6:
	.loc	3 0 46                          # boxpresso/train/solver.cu:0:46
	vmovsd	-80(%rbp), %xmm1                # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	-72(%rbp), %xmm0                # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	-64(%rbp), %xmm2                # 8-byte Reload
                                        # xmm2 = mem[0],zero
	vmovsd	-88(%rbp), %xmm3                # 8-byte Reload
                                        # xmm3 = mem[0],zero
	.loc	3 8 31                          # boxpresso/train/solver.cu:8:31
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 8 23                          # boxpresso/train/solver.cu:8:23
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	.loc	3 8 3 epilogue_begin            # boxpresso/train/solver.cu:8:3
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp49:
.Lfunc_end5:
	.size	_ZL8gradientddddi, .Lfunc_end5-_ZL8gradientddddi
	.cfi_endproc
                                        # -- End function
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0                          # -- Begin function nesterov
.LCPI6_0:
	.quad	0x3ff0000000000000              # double 1
	.text
	.globl	nesterov
	.p2align	4
	.type	nesterov,@function
nesterov:                               # @nesterov
.Lfunc_begin6:
	.loc	3 30 0 is_stmt 1                # boxpresso/train/solver.cu:30:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$304, %rsp                      # imm = 0x130
	movl	%edi, -4(%rbp)
	movq	%rsi, -16(%rbp)
	movq	%rdx, -24(%rbp)
	movq	%rcx, -32(%rbp)
	vmovsd	%xmm0, -40(%rbp)
	vmovsd	%xmm1, -48(%rbp)
	movl	%r8d, -52(%rbp)
	vmovsd	%xmm2, -64(%rbp)
	vmovsd	%xmm3, -72(%rbp)
.Ltmp50:
	.loc	3 31 16 prologue_end            # boxpresso/train/solver.cu:31:16
	movl	-4(%rbp), %eax
	movl	%eax, -104(%rbp)                # 4-byte Spill
	.loc	3 31 3 is_stmt 0                # boxpresso/train/solver.cu:31:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-104(%rbp), %edi                # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	.loc	3 31 13                         # boxpresso/train/solver.cu:31:13
	movl	%eax, -76(%rbp)
	.loc	3 31 16                         # boxpresso/train/solver.cu:31:16
	movl	-4(%rbp), %eax
	movl	%eax, -100(%rbp)                # 4-byte Spill
	.loc	3 31 3                          # boxpresso/train/solver.cu:31:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %eax
	movl	%eax, -96(%rbp)                 # 4-byte Spill
	incl	%eax
	movl	%eax, -92(%rbp)                 # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB6_2
# %bb.1:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-96(%rbp), %eax                 # 4-byte Reload
	.loc	3 31 3                          # boxpresso/train/solver.cu:31:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_46(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB6_2:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-92(%rbp), %esi                 # 4-byte Reload
	movl	-100(%rbp), %edi                # 4-byte Reload
	.loc	3 31 3                          # boxpresso/train/solver.cu:31:3
	callq	_ZL8share_ofii
	movl	%eax, -80(%rbp)
.LBB6_3:                                # =>This Inner Loop Header: Depth=1
.Ltmp51:
	.loc	3 31 13                         # boxpresso/train/solver.cu:31:13
	movl	-76(%rbp), %eax
	.loc	3 31 3                          # boxpresso/train/solver.cu:31:3
	cmpl	-80(%rbp), %eax
.Ltmp52:
	.loc	3 31 3                          # boxpresso/train/solver.cu:31:3
	jge	.LBB6_32
# %bb.4:                                #   in Loop: Header=BB6_3 Depth=1
.Ltmp53:
	.loc	3 32 25 is_stmt 1               # boxpresso/train/solver.cu:32:25
	movq	-32(%rbp), %rsi
	movq	%rsi, -128(%rbp)                # 8-byte Spill
	.loc	3 32 27 is_stmt 0               # boxpresso/train/solver.cu:32:27
	movslq	-76(%rbp), %rdi
	.loc	3 32 25                         # boxpresso/train/solver.cu:32:25
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -120(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -112(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_6
# %bb.5:                                #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 25                          # boxpresso/train/solver.cu:0:25
	movq	-120(%rbp), %rdx                # 8-byte Reload
	movq	-128(%rbp), %rsi                # 8-byte Reload
	.loc	3 32 25                         # boxpresso/train/solver.cu:32:25
	leaq	.L__unnamed_47(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_6:                                #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 25                          # boxpresso/train/solver.cu:0:25
	movq	-112(%rbp), %rcx                # 8-byte Reload
	.loc	3 32 25                         # boxpresso/train/solver.cu:32:25
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_8
# %bb.7:                                #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 25                          # boxpresso/train/solver.cu:0:25
	movq	-112(%rbp), %rsi                # 8-byte Reload
	.loc	3 32 25                         # boxpresso/train/solver.cu:32:25
	leaq	.L__unnamed_48(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_8:                                #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 25                          # boxpresso/train/solver.cu:0:25
	movq	-112(%rbp), %rax                # 8-byte Reload
	.loc	3 32 25                         # boxpresso/train/solver.cu:32:25
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	.loc	3 32 16                         # boxpresso/train/solver.cu:32:16
	vmovsd	%xmm0, -88(%rbp)
	.loc	3 33 12 is_stmt 1               # boxpresso/train/solver.cu:33:12
	vmovsd	-64(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -160(%rbp)               # 8-byte Spill
	.loc	3 33 28 is_stmt 0               # boxpresso/train/solver.cu:33:28
	movq	-24(%rbp), %rsi
	movq	%rsi, -152(%rbp)                # 8-byte Spill
	.loc	3 33 33                         # boxpresso/train/solver.cu:33:33
	movslq	-76(%rbp), %rdi
	.loc	3 33 28                         # boxpresso/train/solver.cu:33:28
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -144(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -136(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_10
# %bb.9:                                #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 28                          # boxpresso/train/solver.cu:0:28
	movq	-144(%rbp), %rdx                # 8-byte Reload
	movq	-152(%rbp), %rsi                # 8-byte Reload
	.loc	3 33 28                         # boxpresso/train/solver.cu:33:28
	leaq	.L__unnamed_49(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_10:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 28                          # boxpresso/train/solver.cu:0:28
	movq	-136(%rbp), %rcx                # 8-byte Reload
	.loc	3 33 28                         # boxpresso/train/solver.cu:33:28
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_12
# %bb.11:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 28                          # boxpresso/train/solver.cu:0:28
	movq	-136(%rbp), %rsi                # 8-byte Reload
	.loc	3 33 28                         # boxpresso/train/solver.cu:33:28
	leaq	.L__unnamed_50(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_12:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 28                          # boxpresso/train/solver.cu:0:28
	movq	-136(%rbp), %rax                # 8-byte Reload
	.loc	3 33 28                         # boxpresso/train/solver.cu:33:28
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -192(%rbp)               # 8-byte Spill
	.loc	3 33 37                         # boxpresso/train/solver.cu:33:37
	movq	-16(%rbp), %rsi
	movq	%rsi, -184(%rbp)                # 8-byte Spill
	.loc	3 33 39                         # boxpresso/train/solver.cu:33:39
	movslq	-76(%rbp), %rdi
	.loc	3 33 37                         # boxpresso/train/solver.cu:33:37
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -176(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -168(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_14
# %bb.13:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 37                          # boxpresso/train/solver.cu:0:37
	movq	-176(%rbp), %rdx                # 8-byte Reload
	movq	-184(%rbp), %rsi                # 8-byte Reload
	.loc	3 33 37                         # boxpresso/train/solver.cu:33:37
	leaq	.L__unnamed_51(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_14:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 37                          # boxpresso/train/solver.cu:0:37
	movq	-168(%rbp), %rcx                # 8-byte Reload
	.loc	3 33 37                         # boxpresso/train/solver.cu:33:37
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_16
# %bb.15:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 37                          # boxpresso/train/solver.cu:0:37
	movq	-168(%rbp), %rsi                # 8-byte Reload
	.loc	3 33 37                         # boxpresso/train/solver.cu:33:37
	leaq	.L__unnamed_52(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_16:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 37                          # boxpresso/train/solver.cu:0:37
	vmovsd	-192(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-168(%rbp), %rax                # 8-byte Reload
	.loc	3 33 37                         # boxpresso/train/solver.cu:33:37
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	.loc	3 33 43                         # boxpresso/train/solver.cu:33:43
	vmovsd	-40(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 33 50                         # boxpresso/train/solver.cu:33:50
	vmovsd	-48(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	3 33 57                         # boxpresso/train/solver.cu:33:57
	movl	-52(%rbp), %edi
	.loc	3 33 19                         # boxpresso/train/solver.cu:33:19
	callq	_ZL8gradientddddi
	vmovsd	-160(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	.loc	3 33 63                         # boxpresso/train/solver.cu:33:63
	vmovsd	-72(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 33 74                         # boxpresso/train/solver.cu:33:74
	vmovsd	-88(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	3 33 72                         # boxpresso/train/solver.cu:33:72
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 33 61                         # boxpresso/train/solver.cu:33:61
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -224(%rbp)               # 8-byte Spill
	.loc	3 33 5                          # boxpresso/train/solver.cu:33:5
	movq	-32(%rbp), %rsi
	movq	%rsi, -216(%rbp)                # 8-byte Spill
	.loc	3 33 7                          # boxpresso/train/solver.cu:33:7
	movslq	-76(%rbp), %rdi
	.loc	3 33 10                         # boxpresso/train/solver.cu:33:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -208(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -200(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_18
# %bb.17:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-208(%rbp), %rdx                # 8-byte Reload
	movq	-216(%rbp), %rsi                # 8-byte Reload
	.loc	3 33 10                         # boxpresso/train/solver.cu:33:10
	leaq	.L__unnamed_53(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_18:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-200(%rbp), %rcx                # 8-byte Reload
	.loc	3 33 10                         # boxpresso/train/solver.cu:33:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_20
# %bb.19:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-200(%rbp), %rsi                # 8-byte Reload
	.loc	3 33 10                         # boxpresso/train/solver.cu:33:10
	leaq	.L__unnamed_54(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_20:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-200(%rbp), %rax                # 8-byte Reload
	vmovsd	-224(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	3 33 10                         # boxpresso/train/solver.cu:33:10
	vmovsd	%xmm0, (%rax)
	.loc	3 34 18 is_stmt 1               # boxpresso/train/solver.cu:34:18
	vmovsd	-72(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	.LCPI6_0(%rip), %xmm1           # xmm1 = [1.0E+0,0.0E+0]
	.loc	3 34 16 is_stmt 0               # boxpresso/train/solver.cu:34:16
	vaddsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -256(%rbp)               # 8-byte Spill
	.loc	3 34 30                         # boxpresso/train/solver.cu:34:30
	movq	-32(%rbp), %rsi
	movq	%rsi, -248(%rbp)                # 8-byte Spill
	.loc	3 34 32                         # boxpresso/train/solver.cu:34:32
	movslq	-76(%rbp), %rdi
	.loc	3 34 30                         # boxpresso/train/solver.cu:34:30
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -240(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -232(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_22
# %bb.21:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movq	-240(%rbp), %rdx                # 8-byte Reload
	movq	-248(%rbp), %rsi                # 8-byte Reload
	.loc	3 34 30                         # boxpresso/train/solver.cu:34:30
	leaq	.L__unnamed_55(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_22:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movq	-232(%rbp), %rcx                # 8-byte Reload
	.loc	3 34 30                         # boxpresso/train/solver.cu:34:30
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_24
# %bb.23:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movq	-232(%rbp), %rsi                # 8-byte Reload
	.loc	3 34 30                         # boxpresso/train/solver.cu:34:30
	leaq	.L__unnamed_56(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_24:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	vmovsd	-256(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-232(%rbp), %rax                # 8-byte Reload
	.loc	3 34 30                         # boxpresso/train/solver.cu:34:30
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	.loc	3 34 37                         # boxpresso/train/solver.cu:34:37
	vmovsd	-72(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 34 48                         # boxpresso/train/solver.cu:34:48
	vmovsd	-88(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	3 34 46                         # boxpresso/train/solver.cu:34:46
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 34 35                         # boxpresso/train/solver.cu:34:35
	vfmsub213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) - xmm2
	vmovsd	%xmm0, -288(%rbp)               # 8-byte Spill
	.loc	3 34 5                          # boxpresso/train/solver.cu:34:5
	movq	-16(%rbp), %rsi
	movq	%rsi, -280(%rbp)                # 8-byte Spill
	.loc	3 34 7                          # boxpresso/train/solver.cu:34:7
	movslq	-76(%rbp), %rdi
	.loc	3 34 10                         # boxpresso/train/solver.cu:34:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -272(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -264(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_26
# %bb.25:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-272(%rbp), %rdx                # 8-byte Reload
	movq	-280(%rbp), %rsi                # 8-byte Reload
	.loc	3 34 10                         # boxpresso/train/solver.cu:34:10
	leaq	.L__unnamed_57(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_26:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-264(%rbp), %rcx                # 8-byte Reload
	.loc	3 34 10                         # boxpresso/train/solver.cu:34:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_28
# %bb.27:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-264(%rbp), %rsi                # 8-byte Reload
	.loc	3 34 10                         # boxpresso/train/solver.cu:34:10
	leaq	.L__unnamed_58(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_28:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-264(%rbp), %rax                # 8-byte Reload
	vmovsd	-288(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	.loc	3 34 10                         # boxpresso/train/solver.cu:34:10
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vsubsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
.Ltmp54:
# %bb.29:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 31 3 is_stmt 1                # boxpresso/train/solver.cu:31:3
	movl	-76(%rbp), %eax
	movl	%eax, -296(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -292(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB6_31
# %bb.30:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 3 is_stmt 0                 # boxpresso/train/solver.cu:0:3
	movl	-296(%rbp), %eax                # 4-byte Reload
	.loc	3 31 3                          # boxpresso/train/solver.cu:31:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_59(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB6_31:                               #   in Loop: Header=BB6_3 Depth=1
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-292(%rbp), %eax                # 4-byte Reload
	.loc	3 31 3                          # boxpresso/train/solver.cu:31:3
	movl	%eax, -76(%rbp)
	jmp	.LBB6_3
.Ltmp55:
.LBB6_32:
	.loc	3 36 1 epilogue_begin is_stmt 1 # boxpresso/train/solver.cu:36:1
	addq	$304, %rsp                      # imm = 0x130
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp56:
.Lfunc_end6:
	.size	nesterov, .Lfunc_end6-nesterov
	.cfi_endproc
                                        # -- End function
	.globl	adagrad                         # -- Begin function adagrad
	.p2align	4
	.type	adagrad,@function
adagrad:                                # @adagrad
.Lfunc_begin7:
	.loc	3 39 0                          # boxpresso/train/solver.cu:39:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$272, %rsp                      # imm = 0x110
	movl	%edi, -4(%rbp)
	movq	%rsi, -16(%rbp)
	movq	%rdx, -24(%rbp)
	movq	%rcx, -32(%rbp)
	vmovsd	%xmm0, -40(%rbp)
	vmovsd	%xmm1, -48(%rbp)
	movl	%r8d, -52(%rbp)
	vmovsd	%xmm2, -64(%rbp)
	vmovsd	%xmm3, -72(%rbp)
.Ltmp57:
	.loc	3 40 16 prologue_end            # boxpresso/train/solver.cu:40:16
	movl	-4(%rbp), %eax
	movl	%eax, -104(%rbp)                # 4-byte Spill
	.loc	3 40 3 is_stmt 0                # boxpresso/train/solver.cu:40:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-104(%rbp), %edi                # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	.loc	3 40 13                         # boxpresso/train/solver.cu:40:13
	movl	%eax, -76(%rbp)
	.loc	3 40 16                         # boxpresso/train/solver.cu:40:16
	movl	-4(%rbp), %eax
	movl	%eax, -100(%rbp)                # 4-byte Spill
	.loc	3 40 3                          # boxpresso/train/solver.cu:40:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %eax
	movl	%eax, -96(%rbp)                 # 4-byte Spill
	incl	%eax
	movl	%eax, -92(%rbp)                 # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB7_2
# %bb.1:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-96(%rbp), %eax                 # 4-byte Reload
	.loc	3 40 3                          # boxpresso/train/solver.cu:40:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_60(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB7_2:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-92(%rbp), %esi                 # 4-byte Reload
	movl	-100(%rbp), %edi                # 4-byte Reload
	.loc	3 40 3                          # boxpresso/train/solver.cu:40:3
	callq	_ZL8share_ofii
	movl	%eax, -80(%rbp)
.LBB7_3:                                # =>This Inner Loop Header: Depth=1
.Ltmp58:
	.loc	3 40 13                         # boxpresso/train/solver.cu:40:13
	movl	-76(%rbp), %eax
	.loc	3 40 3                          # boxpresso/train/solver.cu:40:3
	cmpl	-80(%rbp), %eax
.Ltmp59:
	.loc	3 40 3                          # boxpresso/train/solver.cu:40:3
	jge	.LBB7_28
# %bb.4:                                #   in Loop: Header=BB7_3 Depth=1
.Ltmp60:
	.loc	3 41 29 is_stmt 1               # boxpresso/train/solver.cu:41:29
	movq	-24(%rbp), %rsi
	movq	%rsi, -128(%rbp)                # 8-byte Spill
	.loc	3 41 34 is_stmt 0               # boxpresso/train/solver.cu:41:34
	movslq	-76(%rbp), %rdi
	.loc	3 41 29                         # boxpresso/train/solver.cu:41:29
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -120(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -112(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_6
# %bb.5:                                #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-120(%rbp), %rdx                # 8-byte Reload
	movq	-128(%rbp), %rsi                # 8-byte Reload
	.loc	3 41 29                         # boxpresso/train/solver.cu:41:29
	leaq	.L__unnamed_61(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB7_6:                                #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-112(%rbp), %rcx                # 8-byte Reload
	.loc	3 41 29                         # boxpresso/train/solver.cu:41:29
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_8
# %bb.7:                                #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-112(%rbp), %rsi                # 8-byte Reload
	.loc	3 41 29                         # boxpresso/train/solver.cu:41:29
	leaq	.L__unnamed_62(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB7_8:                                #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-112(%rbp), %rax                # 8-byte Reload
	.loc	3 41 29                         # boxpresso/train/solver.cu:41:29
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -160(%rbp)               # 8-byte Spill
	.loc	3 41 38                         # boxpresso/train/solver.cu:41:38
	movq	-16(%rbp), %rsi
	movq	%rsi, -152(%rbp)                # 8-byte Spill
	.loc	3 41 40                         # boxpresso/train/solver.cu:41:40
	movslq	-76(%rbp), %rdi
	.loc	3 41 38                         # boxpresso/train/solver.cu:41:38
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -144(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -136(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_10
# %bb.9:                                #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-144(%rbp), %rdx                # 8-byte Reload
	movq	-152(%rbp), %rsi                # 8-byte Reload
	.loc	3 41 38                         # boxpresso/train/solver.cu:41:38
	leaq	.L__unnamed_63(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB7_10:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-136(%rbp), %rcx                # 8-byte Reload
	.loc	3 41 38                         # boxpresso/train/solver.cu:41:38
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_12
# %bb.11:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-136(%rbp), %rsi                # 8-byte Reload
	.loc	3 41 38                         # boxpresso/train/solver.cu:41:38
	leaq	.L__unnamed_64(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB7_12:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	vmovsd	-160(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-136(%rbp), %rax                # 8-byte Reload
	.loc	3 41 38                         # boxpresso/train/solver.cu:41:38
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	.loc	3 41 44                         # boxpresso/train/solver.cu:41:44
	vmovsd	-40(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 41 51                         # boxpresso/train/solver.cu:41:51
	vmovsd	-48(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	3 41 58                         # boxpresso/train/solver.cu:41:58
	movl	-52(%rbp), %edi
	.loc	3 41 20                         # boxpresso/train/solver.cu:41:20
	callq	_ZL8gradientddddi
	.loc	3 41 16                         # boxpresso/train/solver.cu:41:16
	vmovsd	%xmm0, -88(%rbp)
	.loc	3 42 13 is_stmt 1               # boxpresso/train/solver.cu:42:13
	vmovsd	-88(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -200(%rbp)               # 8-byte Spill
	vmovsd	%xmm0, -192(%rbp)               # 8-byte Spill
	.loc	3 42 5 is_stmt 0                # boxpresso/train/solver.cu:42:5
	movq	-32(%rbp), %rsi
	movq	%rsi, -184(%rbp)                # 8-byte Spill
	.loc	3 42 7                          # boxpresso/train/solver.cu:42:7
	movslq	-76(%rbp), %rdi
	.loc	3 42 10                         # boxpresso/train/solver.cu:42:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -176(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -168(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_14
# %bb.13:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-176(%rbp), %rdx                # 8-byte Reload
	movq	-184(%rbp), %rsi                # 8-byte Reload
	.loc	3 42 10                         # boxpresso/train/solver.cu:42:10
	leaq	.L__unnamed_65(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB7_14:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-168(%rbp), %rcx                # 8-byte Reload
	.loc	3 42 10                         # boxpresso/train/solver.cu:42:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_16
# %bb.15:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-168(%rbp), %rsi                # 8-byte Reload
	.loc	3 42 10                         # boxpresso/train/solver.cu:42:10
	leaq	.L__unnamed_66(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB7_16:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-168(%rbp), %rax                # 8-byte Reload
	vmovsd	-192(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	-200(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	3 42 10                         # boxpresso/train/solver.cu:42:10
	vmovsd	(%rax), %xmm2                   # xmm2 = mem[0],zero
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, (%rax)
	.loc	3 43 13 is_stmt 1               # boxpresso/train/solver.cu:43:13
	vmovsd	-64(%rbp), %xmm0                # xmm0 = mem[0],zero
	.loc	3 43 20 is_stmt 0               # boxpresso/train/solver.cu:43:20
	vmovsd	-88(%rbp), %xmm1                # xmm1 = mem[0],zero
	.loc	3 43 18                         # boxpresso/train/solver.cu:43:18
	vmulsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -232(%rbp)               # 8-byte Spill
	.loc	3 43 30                         # boxpresso/train/solver.cu:43:30
	movq	-32(%rbp), %rsi
	movq	%rsi, -224(%rbp)                # 8-byte Spill
	.loc	3 43 32                         # boxpresso/train/solver.cu:43:32
	movslq	-76(%rbp), %rdi
	.loc	3 43 30                         # boxpresso/train/solver.cu:43:30
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -216(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -208(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_18
# %bb.17:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movq	-216(%rbp), %rdx                # 8-byte Reload
	movq	-224(%rbp), %rsi                # 8-byte Reload
	.loc	3 43 30                         # boxpresso/train/solver.cu:43:30
	leaq	.L__unnamed_67(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB7_18:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movq	-208(%rbp), %rcx                # 8-byte Reload
	.loc	3 43 30                         # boxpresso/train/solver.cu:43:30
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_20
# %bb.19:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movq	-208(%rbp), %rsi                # 8-byte Reload
	.loc	3 43 30                         # boxpresso/train/solver.cu:43:30
	leaq	.L__unnamed_68(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB7_20:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	vmovsd	-232(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-208(%rbp), %rax                # 8-byte Reload
	.loc	3 43 30                         # boxpresso/train/solver.cu:43:30
	vmovsd	(%rax), %xmm2                   # xmm2 = mem[0],zero
                                        # implicit-def: $xmm1
	.loc	3 43 25                         # boxpresso/train/solver.cu:43:25
	vsqrtsd	%xmm2, %xmm1, %xmm1
	.loc	3 43 38                         # boxpresso/train/solver.cu:43:38
	vmovsd	-72(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 43 36                         # boxpresso/train/solver.cu:43:36
	vaddsd	%xmm2, %xmm1, %xmm1
	.loc	3 43 22                         # boxpresso/train/solver.cu:43:22
	vdivsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -264(%rbp)               # 8-byte Spill
	.loc	3 43 5                          # boxpresso/train/solver.cu:43:5
	movq	-16(%rbp), %rsi
	movq	%rsi, -256(%rbp)                # 8-byte Spill
	.loc	3 43 7                          # boxpresso/train/solver.cu:43:7
	movslq	-76(%rbp), %rdi
	.loc	3 43 10                         # boxpresso/train/solver.cu:43:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -248(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -240(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_22
# %bb.21:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-248(%rbp), %rdx                # 8-byte Reload
	movq	-256(%rbp), %rsi                # 8-byte Reload
	.loc	3 43 10                         # boxpresso/train/solver.cu:43:10
	leaq	.L__unnamed_69(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB7_22:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-240(%rbp), %rcx                # 8-byte Reload
	.loc	3 43 10                         # boxpresso/train/solver.cu:43:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_24
# %bb.23:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-240(%rbp), %rsi                # 8-byte Reload
	.loc	3 43 10                         # boxpresso/train/solver.cu:43:10
	leaq	.L__unnamed_70(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB7_24:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-240(%rbp), %rax                # 8-byte Reload
	vmovsd	-264(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	.loc	3 43 10                         # boxpresso/train/solver.cu:43:10
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vsubsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
.Ltmp61:
# %bb.25:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 40 3 is_stmt 1                # boxpresso/train/solver.cu:40:3
	movl	-76(%rbp), %eax
	movl	%eax, -272(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -268(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB7_27
# %bb.26:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 3 is_stmt 0                 # boxpresso/train/solver.cu:0:3
	movl	-272(%rbp), %eax                # 4-byte Reload
	.loc	3 40 3                          # boxpresso/train/solver.cu:40:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_71(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB7_27:                               #   in Loop: Header=BB7_3 Depth=1
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-268(%rbp), %eax                # 4-byte Reload
	.loc	3 40 3                          # boxpresso/train/solver.cu:40:3
	movl	%eax, -76(%rbp)
	jmp	.LBB7_3
.Ltmp62:
.LBB7_28:
	.loc	3 45 1 epilogue_begin is_stmt 1 # boxpresso/train/solver.cu:45:1
	addq	$272, %rsp                      # imm = 0x110
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp63:
.Lfunc_end7:
	.size	adagrad, .Lfunc_end7-adagrad
	.cfi_endproc
                                        # -- End function
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0                          # -- Begin function rmsprop
.LCPI8_0:
	.quad	0x3ff0000000000000              # double 1
	.text
	.globl	rmsprop
	.p2align	4
	.type	rmsprop,@function
rmsprop:                                # @rmsprop
.Lfunc_begin8:
	.loc	3 48 0                          # boxpresso/train/solver.cu:48:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$304, %rsp                      # imm = 0x130
	movl	%edi, -4(%rbp)
	movq	%rsi, -16(%rbp)
	movq	%rdx, -24(%rbp)
	movq	%rcx, -32(%rbp)
	vmovsd	%xmm0, -40(%rbp)
	vmovsd	%xmm1, -48(%rbp)
	movl	%r8d, -52(%rbp)
	vmovsd	%xmm2, -64(%rbp)
	vmovsd	%xmm3, -72(%rbp)
	vmovsd	%xmm4, -80(%rbp)
.Ltmp64:
	.loc	3 49 16 prologue_end            # boxpresso/train/solver.cu:49:16
	movl	-4(%rbp), %eax
	movl	%eax, -112(%rbp)                # 4-byte Spill
	.loc	3 49 3 is_stmt 0                # boxpresso/train/solver.cu:49:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-112(%rbp), %edi                # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	.loc	3 49 13                         # boxpresso/train/solver.cu:49:13
	movl	%eax, -84(%rbp)
	.loc	3 49 16                         # boxpresso/train/solver.cu:49:16
	movl	-4(%rbp), %eax
	movl	%eax, -108(%rbp)                # 4-byte Spill
	.loc	3 49 3                          # boxpresso/train/solver.cu:49:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %eax
	movl	%eax, -104(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -100(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB8_2
# %bb.1:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-104(%rbp), %eax                # 4-byte Reload
	.loc	3 49 3                          # boxpresso/train/solver.cu:49:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_72(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB8_2:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-100(%rbp), %esi                # 4-byte Reload
	movl	-108(%rbp), %edi                # 4-byte Reload
	.loc	3 49 3                          # boxpresso/train/solver.cu:49:3
	callq	_ZL8share_ofii
	movl	%eax, -88(%rbp)
.LBB8_3:                                # =>This Inner Loop Header: Depth=1
.Ltmp65:
	.loc	3 49 13                         # boxpresso/train/solver.cu:49:13
	movl	-84(%rbp), %eax
	.loc	3 49 3                          # boxpresso/train/solver.cu:49:3
	cmpl	-88(%rbp), %eax
.Ltmp66:
	.loc	3 49 3                          # boxpresso/train/solver.cu:49:3
	jge	.LBB8_32
# %bb.4:                                #   in Loop: Header=BB8_3 Depth=1
.Ltmp67:
	.loc	3 50 29 is_stmt 1               # boxpresso/train/solver.cu:50:29
	movq	-24(%rbp), %rsi
	movq	%rsi, -136(%rbp)                # 8-byte Spill
	.loc	3 50 34 is_stmt 0               # boxpresso/train/solver.cu:50:34
	movslq	-84(%rbp), %rdi
	.loc	3 50 29                         # boxpresso/train/solver.cu:50:29
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -128(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -120(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_6
# %bb.5:                                #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-128(%rbp), %rdx                # 8-byte Reload
	movq	-136(%rbp), %rsi                # 8-byte Reload
	.loc	3 50 29                         # boxpresso/train/solver.cu:50:29
	leaq	.L__unnamed_73(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_6:                                #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-120(%rbp), %rcx                # 8-byte Reload
	.loc	3 50 29                         # boxpresso/train/solver.cu:50:29
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_8
# %bb.7:                                #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-120(%rbp), %rsi                # 8-byte Reload
	.loc	3 50 29                         # boxpresso/train/solver.cu:50:29
	leaq	.L__unnamed_74(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_8:                                #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-120(%rbp), %rax                # 8-byte Reload
	.loc	3 50 29                         # boxpresso/train/solver.cu:50:29
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -168(%rbp)               # 8-byte Spill
	.loc	3 50 38                         # boxpresso/train/solver.cu:50:38
	movq	-16(%rbp), %rsi
	movq	%rsi, -160(%rbp)                # 8-byte Spill
	.loc	3 50 40                         # boxpresso/train/solver.cu:50:40
	movslq	-84(%rbp), %rdi
	.loc	3 50 38                         # boxpresso/train/solver.cu:50:38
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -152(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -144(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_10
# %bb.9:                                #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-152(%rbp), %rdx                # 8-byte Reload
	movq	-160(%rbp), %rsi                # 8-byte Reload
	.loc	3 50 38                         # boxpresso/train/solver.cu:50:38
	leaq	.L__unnamed_75(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_10:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-144(%rbp), %rcx                # 8-byte Reload
	.loc	3 50 38                         # boxpresso/train/solver.cu:50:38
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_12
# %bb.11:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-144(%rbp), %rsi                # 8-byte Reload
	.loc	3 50 38                         # boxpresso/train/solver.cu:50:38
	leaq	.L__unnamed_76(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_12:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	vmovsd	-168(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-144(%rbp), %rax                # 8-byte Reload
	.loc	3 50 38                         # boxpresso/train/solver.cu:50:38
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	.loc	3 50 44                         # boxpresso/train/solver.cu:50:44
	vmovsd	-40(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 50 51                         # boxpresso/train/solver.cu:50:51
	vmovsd	-48(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	3 50 58                         # boxpresso/train/solver.cu:50:58
	movl	-52(%rbp), %edi
	.loc	3 50 20                         # boxpresso/train/solver.cu:50:20
	callq	_ZL8gradientddddi
	.loc	3 50 16                         # boxpresso/train/solver.cu:50:16
	vmovsd	%xmm0, -96(%rbp)
	.loc	3 51 12 is_stmt 1               # boxpresso/train/solver.cu:51:12
	vmovsd	-80(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -200(%rbp)               # 8-byte Spill
	.loc	3 51 19 is_stmt 0               # boxpresso/train/solver.cu:51:19
	movq	-32(%rbp), %rsi
	movq	%rsi, -192(%rbp)                # 8-byte Spill
	.loc	3 51 21                         # boxpresso/train/solver.cu:51:21
	movslq	-84(%rbp), %rdi
	.loc	3 51 19                         # boxpresso/train/solver.cu:51:19
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -184(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -176(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_14
# %bb.13:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	movq	-184(%rbp), %rdx                # 8-byte Reload
	movq	-192(%rbp), %rsi                # 8-byte Reload
	.loc	3 51 19                         # boxpresso/train/solver.cu:51:19
	leaq	.L__unnamed_77(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_14:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	movq	-176(%rbp), %rcx                # 8-byte Reload
	.loc	3 51 19                         # boxpresso/train/solver.cu:51:19
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_16
# %bb.15:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	movq	-176(%rbp), %rsi                # 8-byte Reload
	.loc	3 51 19                         # boxpresso/train/solver.cu:51:19
	leaq	.L__unnamed_78(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_16:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	vmovsd	-200(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-176(%rbp), %rax                # 8-byte Reload
	.loc	3 51 19                         # boxpresso/train/solver.cu:51:19
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	.loc	3 51 31                         # boxpresso/train/solver.cu:51:31
	vmovsd	-80(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	.LCPI8_0(%rip), %xmm2           # xmm2 = [1.0E+0,0.0E+0]
	.loc	3 51 29                         # boxpresso/train/solver.cu:51:29
	vsubsd	%xmm3, %xmm2, %xmm2
	.loc	3 51 39                         # boxpresso/train/solver.cu:51:39
	vmovsd	-96(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	3 51 37                         # boxpresso/train/solver.cu:51:37
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 51 41                         # boxpresso/train/solver.cu:51:41
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 51 24                         # boxpresso/train/solver.cu:51:24
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -232(%rbp)               # 8-byte Spill
	.loc	3 51 5                          # boxpresso/train/solver.cu:51:5
	movq	-32(%rbp), %rsi
	movq	%rsi, -224(%rbp)                # 8-byte Spill
	.loc	3 51 7                          # boxpresso/train/solver.cu:51:7
	movslq	-84(%rbp), %rdi
	.loc	3 51 10                         # boxpresso/train/solver.cu:51:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -216(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -208(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_18
# %bb.17:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-216(%rbp), %rdx                # 8-byte Reload
	movq	-224(%rbp), %rsi                # 8-byte Reload
	.loc	3 51 10                         # boxpresso/train/solver.cu:51:10
	leaq	.L__unnamed_79(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_18:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-208(%rbp), %rcx                # 8-byte Reload
	.loc	3 51 10                         # boxpresso/train/solver.cu:51:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_20
# %bb.19:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-208(%rbp), %rsi                # 8-byte Reload
	.loc	3 51 10                         # boxpresso/train/solver.cu:51:10
	leaq	.L__unnamed_80(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_20:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-208(%rbp), %rax                # 8-byte Reload
	vmovsd	-232(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	3 51 10                         # boxpresso/train/solver.cu:51:10
	vmovsd	%xmm0, (%rax)
	.loc	3 52 13 is_stmt 1               # boxpresso/train/solver.cu:52:13
	vmovsd	-64(%rbp), %xmm0                # xmm0 = mem[0],zero
	.loc	3 52 20 is_stmt 0               # boxpresso/train/solver.cu:52:20
	vmovsd	-96(%rbp), %xmm1                # xmm1 = mem[0],zero
	.loc	3 52 18                         # boxpresso/train/solver.cu:52:18
	vmulsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -264(%rbp)               # 8-byte Spill
	.loc	3 52 30                         # boxpresso/train/solver.cu:52:30
	movq	-32(%rbp), %rsi
	movq	%rsi, -256(%rbp)                # 8-byte Spill
	.loc	3 52 32                         # boxpresso/train/solver.cu:52:32
	movslq	-84(%rbp), %rdi
	.loc	3 52 30                         # boxpresso/train/solver.cu:52:30
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -248(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -240(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_22
# %bb.21:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movq	-248(%rbp), %rdx                # 8-byte Reload
	movq	-256(%rbp), %rsi                # 8-byte Reload
	.loc	3 52 30                         # boxpresso/train/solver.cu:52:30
	leaq	.L__unnamed_81(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_22:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movq	-240(%rbp), %rcx                # 8-byte Reload
	.loc	3 52 30                         # boxpresso/train/solver.cu:52:30
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_24
# %bb.23:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	movq	-240(%rbp), %rsi                # 8-byte Reload
	.loc	3 52 30                         # boxpresso/train/solver.cu:52:30
	leaq	.L__unnamed_82(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_24:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 30                          # boxpresso/train/solver.cu:0:30
	vmovsd	-264(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-240(%rbp), %rax                # 8-byte Reload
	.loc	3 52 30                         # boxpresso/train/solver.cu:52:30
	vmovsd	(%rax), %xmm2                   # xmm2 = mem[0],zero
                                        # implicit-def: $xmm1
	.loc	3 52 25                         # boxpresso/train/solver.cu:52:25
	vsqrtsd	%xmm2, %xmm1, %xmm1
	.loc	3 52 38                         # boxpresso/train/solver.cu:52:38
	vmovsd	-72(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 52 36                         # boxpresso/train/solver.cu:52:36
	vaddsd	%xmm2, %xmm1, %xmm1
	.loc	3 52 22                         # boxpresso/train/solver.cu:52:22
	vdivsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -296(%rbp)               # 8-byte Spill
	.loc	3 52 5                          # boxpresso/train/solver.cu:52:5
	movq	-16(%rbp), %rsi
	movq	%rsi, -288(%rbp)                # 8-byte Spill
	.loc	3 52 7                          # boxpresso/train/solver.cu:52:7
	movslq	-84(%rbp), %rdi
	.loc	3 52 10                         # boxpresso/train/solver.cu:52:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -280(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -272(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_26
# %bb.25:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-280(%rbp), %rdx                # 8-byte Reload
	movq	-288(%rbp), %rsi                # 8-byte Reload
	.loc	3 52 10                         # boxpresso/train/solver.cu:52:10
	leaq	.L__unnamed_83(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_26:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-272(%rbp), %rcx                # 8-byte Reload
	.loc	3 52 10                         # boxpresso/train/solver.cu:52:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_28
# %bb.27:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-272(%rbp), %rsi                # 8-byte Reload
	.loc	3 52 10                         # boxpresso/train/solver.cu:52:10
	leaq	.L__unnamed_84(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_28:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-272(%rbp), %rax                # 8-byte Reload
	vmovsd	-296(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	.loc	3 52 10                         # boxpresso/train/solver.cu:52:10
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vsubsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
.Ltmp68:
# %bb.29:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 49 3 is_stmt 1                # boxpresso/train/solver.cu:49:3
	movl	-84(%rbp), %eax
	movl	%eax, -304(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -300(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB8_31
# %bb.30:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 3 is_stmt 0                 # boxpresso/train/solver.cu:0:3
	movl	-304(%rbp), %eax                # 4-byte Reload
	.loc	3 49 3                          # boxpresso/train/solver.cu:49:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_85(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB8_31:                               #   in Loop: Header=BB8_3 Depth=1
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-300(%rbp), %eax                # 4-byte Reload
	.loc	3 49 3                          # boxpresso/train/solver.cu:49:3
	movl	%eax, -84(%rbp)
	jmp	.LBB8_3
.Ltmp69:
.LBB8_32:
	.loc	3 54 1 epilogue_begin is_stmt 1 # boxpresso/train/solver.cu:54:1
	addq	$304, %rsp                      # imm = 0x130
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp70:
.Lfunc_end8:
	.size	rmsprop, .Lfunc_end8-rmsprop
	.cfi_endproc
                                        # -- End function
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0                          # -- Begin function adadelta
.LCPI9_0:
	.quad	0x3ff0000000000000              # double 1
	.text
	.globl	adadelta
	.p2align	4
	.type	adadelta,@function
adadelta:                               # @adadelta
.Lfunc_begin9:
	.loc	3 58 0                          # boxpresso/train/solver.cu:58:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$448, %rsp                      # imm = 0x1C0
	movl	%edi, -4(%rbp)
	movq	%rsi, -16(%rbp)
	movq	%rdx, -24(%rbp)
	movq	%rcx, -32(%rbp)
	movq	%r8, -40(%rbp)
	vmovsd	%xmm0, -48(%rbp)
	vmovsd	%xmm1, -56(%rbp)
	movl	%r9d, -60(%rbp)
	vmovsd	%xmm2, -72(%rbp)
	vmovsd	%xmm3, -80(%rbp)
	vmovsd	%xmm4, -88(%rbp)
.Ltmp71:
	.loc	3 59 16 prologue_end            # boxpresso/train/solver.cu:59:16
	movl	-4(%rbp), %eax
	movl	%eax, -128(%rbp)                # 4-byte Spill
	.loc	3 59 3 is_stmt 0                # boxpresso/train/solver.cu:59:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-128(%rbp), %edi                # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	.loc	3 59 13                         # boxpresso/train/solver.cu:59:13
	movl	%eax, -92(%rbp)
	.loc	3 59 16                         # boxpresso/train/solver.cu:59:16
	movl	-4(%rbp), %eax
	movl	%eax, -124(%rbp)                # 4-byte Spill
	.loc	3 59 3                          # boxpresso/train/solver.cu:59:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %eax
	movl	%eax, -120(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -116(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB9_2
# %bb.1:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-120(%rbp), %eax                # 4-byte Reload
	.loc	3 59 3                          # boxpresso/train/solver.cu:59:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_86(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB9_2:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-116(%rbp), %esi                # 4-byte Reload
	movl	-124(%rbp), %edi                # 4-byte Reload
	.loc	3 59 3                          # boxpresso/train/solver.cu:59:3
	callq	_ZL8share_ofii
	movl	%eax, -96(%rbp)
.LBB9_3:                                # =>This Inner Loop Header: Depth=1
.Ltmp72:
	.loc	3 59 13                         # boxpresso/train/solver.cu:59:13
	movl	-92(%rbp), %eax
	.loc	3 59 3                          # boxpresso/train/solver.cu:59:3
	cmpl	-96(%rbp), %eax
.Ltmp73:
	.loc	3 59 3                          # boxpresso/train/solver.cu:59:3
	jge	.LBB9_44
# %bb.4:                                #   in Loop: Header=BB9_3 Depth=1
.Ltmp74:
	.loc	3 60 29 is_stmt 1               # boxpresso/train/solver.cu:60:29
	movq	-24(%rbp), %rsi
	movq	%rsi, -152(%rbp)                # 8-byte Spill
	.loc	3 60 34 is_stmt 0               # boxpresso/train/solver.cu:60:34
	movslq	-92(%rbp), %rdi
	.loc	3 60 29                         # boxpresso/train/solver.cu:60:29
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -144(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -136(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_6
# %bb.5:                                #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-144(%rbp), %rdx                # 8-byte Reload
	movq	-152(%rbp), %rsi                # 8-byte Reload
	.loc	3 60 29                         # boxpresso/train/solver.cu:60:29
	leaq	.L__unnamed_87(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_6:                                #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-136(%rbp), %rcx                # 8-byte Reload
	.loc	3 60 29                         # boxpresso/train/solver.cu:60:29
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_8
# %bb.7:                                #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-136(%rbp), %rsi                # 8-byte Reload
	.loc	3 60 29                         # boxpresso/train/solver.cu:60:29
	leaq	.L__unnamed_88(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_8:                                #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-136(%rbp), %rax                # 8-byte Reload
	.loc	3 60 29                         # boxpresso/train/solver.cu:60:29
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -184(%rbp)               # 8-byte Spill
	.loc	3 60 38                         # boxpresso/train/solver.cu:60:38
	movq	-16(%rbp), %rsi
	movq	%rsi, -176(%rbp)                # 8-byte Spill
	.loc	3 60 40                         # boxpresso/train/solver.cu:60:40
	movslq	-92(%rbp), %rdi
	.loc	3 60 38                         # boxpresso/train/solver.cu:60:38
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -168(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -160(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_10
# %bb.9:                                #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-168(%rbp), %rdx                # 8-byte Reload
	movq	-176(%rbp), %rsi                # 8-byte Reload
	.loc	3 60 38                         # boxpresso/train/solver.cu:60:38
	leaq	.L__unnamed_89(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_10:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-160(%rbp), %rcx                # 8-byte Reload
	.loc	3 60 38                         # boxpresso/train/solver.cu:60:38
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_12
# %bb.11:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-160(%rbp), %rsi                # 8-byte Reload
	.loc	3 60 38                         # boxpresso/train/solver.cu:60:38
	leaq	.L__unnamed_90(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_12:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	vmovsd	-184(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-160(%rbp), %rax                # 8-byte Reload
	.loc	3 60 38                         # boxpresso/train/solver.cu:60:38
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	.loc	3 60 44                         # boxpresso/train/solver.cu:60:44
	vmovsd	-48(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 60 51                         # boxpresso/train/solver.cu:60:51
	vmovsd	-56(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	3 60 58                         # boxpresso/train/solver.cu:60:58
	movl	-60(%rbp), %edi
	.loc	3 60 20                         # boxpresso/train/solver.cu:60:20
	callq	_ZL8gradientddddi
	.loc	3 60 16                         # boxpresso/train/solver.cu:60:16
	vmovsd	%xmm0, -104(%rbp)
	.loc	3 61 12 is_stmt 1               # boxpresso/train/solver.cu:61:12
	vmovsd	-88(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -216(%rbp)               # 8-byte Spill
	.loc	3 61 19 is_stmt 0               # boxpresso/train/solver.cu:61:19
	movq	-32(%rbp), %rsi
	movq	%rsi, -208(%rbp)                # 8-byte Spill
	.loc	3 61 21                         # boxpresso/train/solver.cu:61:21
	movslq	-92(%rbp), %rdi
	.loc	3 61 19                         # boxpresso/train/solver.cu:61:19
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -200(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -192(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_14
# %bb.13:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	movq	-200(%rbp), %rdx                # 8-byte Reload
	movq	-208(%rbp), %rsi                # 8-byte Reload
	.loc	3 61 19                         # boxpresso/train/solver.cu:61:19
	leaq	.L__unnamed_91(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_14:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	movq	-192(%rbp), %rcx                # 8-byte Reload
	.loc	3 61 19                         # boxpresso/train/solver.cu:61:19
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_16
# %bb.15:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	movq	-192(%rbp), %rsi                # 8-byte Reload
	.loc	3 61 19                         # boxpresso/train/solver.cu:61:19
	leaq	.L__unnamed_92(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_16:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	vmovsd	-216(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-192(%rbp), %rax                # 8-byte Reload
	.loc	3 61 19                         # boxpresso/train/solver.cu:61:19
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	.loc	3 61 31                         # boxpresso/train/solver.cu:61:31
	vmovsd	-88(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	.LCPI9_0(%rip), %xmm2           # xmm2 = [1.0E+0,0.0E+0]
	.loc	3 61 29                         # boxpresso/train/solver.cu:61:29
	vsubsd	%xmm3, %xmm2, %xmm2
	.loc	3 61 39                         # boxpresso/train/solver.cu:61:39
	vmovsd	-104(%rbp), %xmm3               # xmm3 = mem[0],zero
	.loc	3 61 37                         # boxpresso/train/solver.cu:61:37
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 61 41                         # boxpresso/train/solver.cu:61:41
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 61 24                         # boxpresso/train/solver.cu:61:24
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -248(%rbp)               # 8-byte Spill
	.loc	3 61 5                          # boxpresso/train/solver.cu:61:5
	movq	-32(%rbp), %rsi
	movq	%rsi, -240(%rbp)                # 8-byte Spill
	.loc	3 61 7                          # boxpresso/train/solver.cu:61:7
	movslq	-92(%rbp), %rdi
	.loc	3 61 10                         # boxpresso/train/solver.cu:61:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -232(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -224(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_18
# %bb.17:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-232(%rbp), %rdx                # 8-byte Reload
	movq	-240(%rbp), %rsi                # 8-byte Reload
	.loc	3 61 10                         # boxpresso/train/solver.cu:61:10
	leaq	.L__unnamed_93(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_18:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-224(%rbp), %rcx                # 8-byte Reload
	.loc	3 61 10                         # boxpresso/train/solver.cu:61:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_20
# %bb.19:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-224(%rbp), %rsi                # 8-byte Reload
	.loc	3 61 10                         # boxpresso/train/solver.cu:61:10
	leaq	.L__unnamed_94(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_20:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-224(%rbp), %rax                # 8-byte Reload
	vmovsd	-248(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	3 61 10                         # boxpresso/train/solver.cu:61:10
	vmovsd	%xmm0, (%rax)
	.loc	3 62 23 is_stmt 1               # boxpresso/train/solver.cu:62:23
	vmovsd	-104(%rbp), %xmm0               # xmm0 = mem[0],zero
	vmovsd	%xmm0, -288(%rbp)               # 8-byte Spill
	.loc	3 62 33 is_stmt 0               # boxpresso/train/solver.cu:62:33
	vmovsd	-80(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -280(%rbp)               # 8-byte Spill
	.loc	3 62 41                         # boxpresso/train/solver.cu:62:41
	movq	-40(%rbp), %rsi
	movq	%rsi, -272(%rbp)                # 8-byte Spill
	.loc	3 62 43                         # boxpresso/train/solver.cu:62:43
	movslq	-92(%rbp), %rdi
	.loc	3 62 41                         # boxpresso/train/solver.cu:62:41
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -264(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -256(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_22
# %bb.21:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 41                          # boxpresso/train/solver.cu:0:41
	movq	-264(%rbp), %rdx                # 8-byte Reload
	movq	-272(%rbp), %rsi                # 8-byte Reload
	.loc	3 62 41                         # boxpresso/train/solver.cu:62:41
	leaq	.L__unnamed_95(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_22:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 41                          # boxpresso/train/solver.cu:0:41
	movq	-256(%rbp), %rcx                # 8-byte Reload
	.loc	3 62 41                         # boxpresso/train/solver.cu:62:41
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_24
# %bb.23:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 41                          # boxpresso/train/solver.cu:0:41
	movq	-256(%rbp), %rsi                # 8-byte Reload
	.loc	3 62 41                         # boxpresso/train/solver.cu:62:41
	leaq	.L__unnamed_96(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_24:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 41                          # boxpresso/train/solver.cu:0:41
	vmovsd	-280(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-256(%rbp), %rax                # 8-byte Reload
	.loc	3 62 41                         # boxpresso/train/solver.cu:62:41
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	.loc	3 62 39                         # boxpresso/train/solver.cu:62:39
	vaddsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -328(%rbp)               # 8-byte Spill
	.loc	3 62 50                         # boxpresso/train/solver.cu:62:50
	vmovsd	-80(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -320(%rbp)               # 8-byte Spill
	.loc	3 62 58                         # boxpresso/train/solver.cu:62:58
	movq	-32(%rbp), %rsi
	movq	%rsi, -312(%rbp)                # 8-byte Spill
	.loc	3 62 60                         # boxpresso/train/solver.cu:62:60
	movslq	-92(%rbp), %rdi
	.loc	3 62 58                         # boxpresso/train/solver.cu:62:58
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -304(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -296(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_26
# %bb.25:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 58                          # boxpresso/train/solver.cu:0:58
	movq	-304(%rbp), %rdx                # 8-byte Reload
	movq	-312(%rbp), %rsi                # 8-byte Reload
	.loc	3 62 58                         # boxpresso/train/solver.cu:62:58
	leaq	.L__unnamed_97(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_26:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 58                          # boxpresso/train/solver.cu:0:58
	movq	-296(%rbp), %rcx                # 8-byte Reload
	.loc	3 62 58                         # boxpresso/train/solver.cu:62:58
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_28
# %bb.27:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 58                          # boxpresso/train/solver.cu:0:58
	movq	-296(%rbp), %rsi                # 8-byte Reload
	.loc	3 62 58                         # boxpresso/train/solver.cu:62:58
	leaq	.L__unnamed_98(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_28:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 58                          # boxpresso/train/solver.cu:0:58
	vmovsd	-288(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	-328(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	-320(%rbp), %xmm2               # 8-byte Reload
                                        # xmm2 = mem[0],zero
	movq	-296(%rbp), %rax                # 8-byte Reload
	.loc	3 62 58                         # boxpresso/train/solver.cu:62:58
	vmovsd	(%rax), %xmm3                   # xmm3 = mem[0],zero
	.loc	3 62 56                         # boxpresso/train/solver.cu:62:56
	vaddsd	%xmm3, %xmm2, %xmm2
	.loc	3 62 47                         # boxpresso/train/solver.cu:62:47
	vdivsd	%xmm2, %xmm1, %xmm2
                                        # implicit-def: $xmm1
	.loc	3 62 27                         # boxpresso/train/solver.cu:62:27
	vsqrtsd	%xmm2, %xmm1, %xmm1
	.loc	3 62 25                         # boxpresso/train/solver.cu:62:25
	vmulsd	%xmm1, %xmm0, %xmm0
	.loc	3 62 16                         # boxpresso/train/solver.cu:62:16
	vmovsd	%xmm0, -112(%rbp)
	.loc	3 63 12 is_stmt 1               # boxpresso/train/solver.cu:63:12
	vmovsd	-88(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -360(%rbp)               # 8-byte Spill
	.loc	3 63 19 is_stmt 0               # boxpresso/train/solver.cu:63:19
	movq	-40(%rbp), %rsi
	movq	%rsi, -352(%rbp)                # 8-byte Spill
	.loc	3 63 21                         # boxpresso/train/solver.cu:63:21
	movslq	-92(%rbp), %rdi
	.loc	3 63 19                         # boxpresso/train/solver.cu:63:19
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -344(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -336(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_30
# %bb.29:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	movq	-344(%rbp), %rdx                # 8-byte Reload
	movq	-352(%rbp), %rsi                # 8-byte Reload
	.loc	3 63 19                         # boxpresso/train/solver.cu:63:19
	leaq	.L__unnamed_99(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_30:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	movq	-336(%rbp), %rcx                # 8-byte Reload
	.loc	3 63 19                         # boxpresso/train/solver.cu:63:19
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_32
# %bb.31:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	movq	-336(%rbp), %rsi                # 8-byte Reload
	.loc	3 63 19                         # boxpresso/train/solver.cu:63:19
	leaq	.L__unnamed_100(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_32:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 19                          # boxpresso/train/solver.cu:0:19
	vmovsd	-360(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-336(%rbp), %rax                # 8-byte Reload
	.loc	3 63 19                         # boxpresso/train/solver.cu:63:19
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	.loc	3 63 31                         # boxpresso/train/solver.cu:63:31
	vmovsd	-88(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	.LCPI9_0(%rip), %xmm2           # xmm2 = [1.0E+0,0.0E+0]
	.loc	3 63 29                         # boxpresso/train/solver.cu:63:29
	vsubsd	%xmm3, %xmm2, %xmm2
	.loc	3 63 39                         # boxpresso/train/solver.cu:63:39
	vmovsd	-112(%rbp), %xmm3               # xmm3 = mem[0],zero
	.loc	3 63 37                         # boxpresso/train/solver.cu:63:37
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 63 44                         # boxpresso/train/solver.cu:63:44
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 63 24                         # boxpresso/train/solver.cu:63:24
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -392(%rbp)               # 8-byte Spill
	.loc	3 63 5                          # boxpresso/train/solver.cu:63:5
	movq	-40(%rbp), %rsi
	movq	%rsi, -384(%rbp)                # 8-byte Spill
	.loc	3 63 7                          # boxpresso/train/solver.cu:63:7
	movslq	-92(%rbp), %rdi
	.loc	3 63 10                         # boxpresso/train/solver.cu:63:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -376(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -368(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_34
# %bb.33:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-376(%rbp), %rdx                # 8-byte Reload
	movq	-384(%rbp), %rsi                # 8-byte Reload
	.loc	3 63 10                         # boxpresso/train/solver.cu:63:10
	leaq	.L__unnamed_101(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_34:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-368(%rbp), %rcx                # 8-byte Reload
	.loc	3 63 10                         # boxpresso/train/solver.cu:63:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_36
# %bb.35:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-368(%rbp), %rsi                # 8-byte Reload
	.loc	3 63 10                         # boxpresso/train/solver.cu:63:10
	leaq	.L__unnamed_102(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_36:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-368(%rbp), %rax                # 8-byte Reload
	vmovsd	-392(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	3 63 10                         # boxpresso/train/solver.cu:63:10
	vmovsd	%xmm0, (%rax)
	.loc	3 64 13 is_stmt 1               # boxpresso/train/solver.cu:64:13
	vmovsd	-72(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -432(%rbp)               # 8-byte Spill
	.loc	3 64 20 is_stmt 0               # boxpresso/train/solver.cu:64:20
	vmovsd	-112(%rbp), %xmm0               # xmm0 = mem[0],zero
	vmovsd	%xmm0, -424(%rbp)               # 8-byte Spill
	.loc	3 64 5                          # boxpresso/train/solver.cu:64:5
	movq	-16(%rbp), %rsi
	movq	%rsi, -416(%rbp)                # 8-byte Spill
	.loc	3 64 7                          # boxpresso/train/solver.cu:64:7
	movslq	-92(%rbp), %rdi
	.loc	3 64 10                         # boxpresso/train/solver.cu:64:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -408(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -400(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_38
# %bb.37:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-408(%rbp), %rdx                # 8-byte Reload
	movq	-416(%rbp), %rsi                # 8-byte Reload
	.loc	3 64 10                         # boxpresso/train/solver.cu:64:10
	leaq	.L__unnamed_103(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_38:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-400(%rbp), %rcx                # 8-byte Reload
	.loc	3 64 10                         # boxpresso/train/solver.cu:64:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_40
# %bb.39:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-400(%rbp), %rsi                # 8-byte Reload
	.loc	3 64 10                         # boxpresso/train/solver.cu:64:10
	leaq	.L__unnamed_104(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_40:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-400(%rbp), %rax                # 8-byte Reload
	vmovsd	-424(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	-432(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	.loc	3 64 10                         # boxpresso/train/solver.cu:64:10
	vmovsd	(%rax), %xmm2                   # xmm2 = mem[0],zero
	vmovq	%xmm1, %rcx
	movabsq	$-9223372036854775808, %rdx     # imm = 0x8000000000000000
	xorq	%rdx, %rcx
	vmovq	%rcx, %xmm1
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, (%rax)
.Ltmp75:
# %bb.41:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 59 3 is_stmt 1                # boxpresso/train/solver.cu:59:3
	movl	-92(%rbp), %eax
	movl	%eax, -440(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -436(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB9_43
# %bb.42:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 3 is_stmt 0                 # boxpresso/train/solver.cu:0:3
	movl	-440(%rbp), %eax                # 4-byte Reload
	.loc	3 59 3                          # boxpresso/train/solver.cu:59:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_105(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB9_43:                               #   in Loop: Header=BB9_3 Depth=1
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-436(%rbp), %eax                # 4-byte Reload
	.loc	3 59 3                          # boxpresso/train/solver.cu:59:3
	movl	%eax, -92(%rbp)
	jmp	.LBB9_3
.Ltmp76:
.LBB9_44:
	.loc	3 66 1 epilogue_begin is_stmt 1 # boxpresso/train/solver.cu:66:1
	addq	$448, %rsp                      # imm = 0x1C0
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp77:
.Lfunc_end9:
	.size	adadelta, .Lfunc_end9-adadelta
	.cfi_endproc
                                        # -- End function
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0                          # -- Begin function adam
.LCPI10_0:
	.quad	0x3ff0000000000000              # double 1
	.text
	.globl	adam
	.p2align	4
	.type	adam,@function
adam:                                   # @adam
.Lfunc_begin10:
	.loc	3 70 0                          # boxpresso/train/solver.cu:70:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$416, %rsp                      # imm = 0x1A0
	movl	%edi, -4(%rbp)
	movq	%rsi, -16(%rbp)
	movq	%rdx, -24(%rbp)
	movq	%rcx, -32(%rbp)
	movq	%r8, -40(%rbp)
	vmovsd	%xmm0, -48(%rbp)
	vmovsd	%xmm1, -56(%rbp)
	movl	%r9d, -60(%rbp)
	vmovsd	%xmm2, -72(%rbp)
	vmovsd	%xmm3, -80(%rbp)
	vmovsd	%xmm4, -88(%rbp)
	vmovsd	%xmm5, -96(%rbp)
.Ltmp78:
	.loc	3 71 16 prologue_end            # boxpresso/train/solver.cu:71:16
	movl	-4(%rbp), %eax
	movl	%eax, -128(%rbp)                # 4-byte Spill
	.loc	3 71 3 is_stmt 0                # boxpresso/train/solver.cu:71:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-128(%rbp), %edi                # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	.loc	3 71 13                         # boxpresso/train/solver.cu:71:13
	movl	%eax, -100(%rbp)
	.loc	3 71 16                         # boxpresso/train/solver.cu:71:16
	movl	-4(%rbp), %eax
	movl	%eax, -124(%rbp)                # 4-byte Spill
	.loc	3 71 3                          # boxpresso/train/solver.cu:71:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %eax
	movl	%eax, -120(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -116(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB10_2
# %bb.1:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-120(%rbp), %eax                # 4-byte Reload
	.loc	3 71 3                          # boxpresso/train/solver.cu:71:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_106(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB10_2:
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-116(%rbp), %esi                # 4-byte Reload
	movl	-124(%rbp), %edi                # 4-byte Reload
	.loc	3 71 3                          # boxpresso/train/solver.cu:71:3
	callq	_ZL8share_ofii
	movl	%eax, -104(%rbp)
.LBB10_3:                               # =>This Inner Loop Header: Depth=1
.Ltmp79:
	.loc	3 71 13                         # boxpresso/train/solver.cu:71:13
	movl	-100(%rbp), %eax
	.loc	3 71 3                          # boxpresso/train/solver.cu:71:3
	cmpl	-104(%rbp), %eax
.Ltmp80:
	.loc	3 71 3                          # boxpresso/train/solver.cu:71:3
	jge	.LBB10_44
# %bb.4:                                #   in Loop: Header=BB10_3 Depth=1
.Ltmp81:
	.loc	3 72 29 is_stmt 1               # boxpresso/train/solver.cu:72:29
	movq	-24(%rbp), %rsi
	movq	%rsi, -152(%rbp)                # 8-byte Spill
	.loc	3 72 34 is_stmt 0               # boxpresso/train/solver.cu:72:34
	movslq	-100(%rbp), %rdi
	.loc	3 72 29                         # boxpresso/train/solver.cu:72:29
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -144(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -136(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_6
# %bb.5:                                #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-144(%rbp), %rdx                # 8-byte Reload
	movq	-152(%rbp), %rsi                # 8-byte Reload
	.loc	3 72 29                         # boxpresso/train/solver.cu:72:29
	leaq	.L__unnamed_107(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_6:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-136(%rbp), %rcx                # 8-byte Reload
	.loc	3 72 29                         # boxpresso/train/solver.cu:72:29
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_8
# %bb.7:                                #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-136(%rbp), %rsi                # 8-byte Reload
	.loc	3 72 29                         # boxpresso/train/solver.cu:72:29
	leaq	.L__unnamed_108(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_8:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 29                          # boxpresso/train/solver.cu:0:29
	movq	-136(%rbp), %rax                # 8-byte Reload
	.loc	3 72 29                         # boxpresso/train/solver.cu:72:29
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -184(%rbp)               # 8-byte Spill
	.loc	3 72 38                         # boxpresso/train/solver.cu:72:38
	movq	-16(%rbp), %rsi
	movq	%rsi, -176(%rbp)                # 8-byte Spill
	.loc	3 72 40                         # boxpresso/train/solver.cu:72:40
	movslq	-100(%rbp), %rdi
	.loc	3 72 38                         # boxpresso/train/solver.cu:72:38
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -168(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -160(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_10
# %bb.9:                                #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-168(%rbp), %rdx                # 8-byte Reload
	movq	-176(%rbp), %rsi                # 8-byte Reload
	.loc	3 72 38                         # boxpresso/train/solver.cu:72:38
	leaq	.L__unnamed_109(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_10:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-160(%rbp), %rcx                # 8-byte Reload
	.loc	3 72 38                         # boxpresso/train/solver.cu:72:38
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_12
# %bb.11:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	movq	-160(%rbp), %rsi                # 8-byte Reload
	.loc	3 72 38                         # boxpresso/train/solver.cu:72:38
	leaq	.L__unnamed_110(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_12:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 38                          # boxpresso/train/solver.cu:0:38
	vmovsd	-184(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-160(%rbp), %rax                # 8-byte Reload
	.loc	3 72 38                         # boxpresso/train/solver.cu:72:38
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	.loc	3 72 44                         # boxpresso/train/solver.cu:72:44
	vmovsd	-48(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 72 51                         # boxpresso/train/solver.cu:72:51
	vmovsd	-56(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	3 72 58                         # boxpresso/train/solver.cu:72:58
	movl	-60(%rbp), %edi
	.loc	3 72 20                         # boxpresso/train/solver.cu:72:20
	callq	_ZL8gradientddddi
	.loc	3 72 16                         # boxpresso/train/solver.cu:72:16
	vmovsd	%xmm0, -112(%rbp)
	.loc	3 73 12 is_stmt 1               # boxpresso/train/solver.cu:73:12
	vmovsd	-88(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -216(%rbp)               # 8-byte Spill
	.loc	3 73 16 is_stmt 0               # boxpresso/train/solver.cu:73:16
	movq	-32(%rbp), %rsi
	movq	%rsi, -208(%rbp)                # 8-byte Spill
	.loc	3 73 18                         # boxpresso/train/solver.cu:73:18
	movslq	-100(%rbp), %rdi
	.loc	3 73 16                         # boxpresso/train/solver.cu:73:16
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -200(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -192(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_14
# %bb.13:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 16                          # boxpresso/train/solver.cu:0:16
	movq	-200(%rbp), %rdx                # 8-byte Reload
	movq	-208(%rbp), %rsi                # 8-byte Reload
	.loc	3 73 16                         # boxpresso/train/solver.cu:73:16
	leaq	.L__unnamed_111(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_14:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 16                          # boxpresso/train/solver.cu:0:16
	movq	-192(%rbp), %rcx                # 8-byte Reload
	.loc	3 73 16                         # boxpresso/train/solver.cu:73:16
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_16
# %bb.15:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 16                          # boxpresso/train/solver.cu:0:16
	movq	-192(%rbp), %rsi                # 8-byte Reload
	.loc	3 73 16                         # boxpresso/train/solver.cu:73:16
	leaq	.L__unnamed_112(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_16:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 16                          # boxpresso/train/solver.cu:0:16
	vmovsd	-216(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-192(%rbp), %rax                # 8-byte Reload
	.loc	3 73 16                         # boxpresso/train/solver.cu:73:16
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	.loc	3 73 28                         # boxpresso/train/solver.cu:73:28
	vmovsd	-88(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	.LCPI10_0(%rip), %xmm2          # xmm2 = [1.0E+0,0.0E+0]
	.loc	3 73 26                         # boxpresso/train/solver.cu:73:26
	vsubsd	%xmm3, %xmm2, %xmm2
	.loc	3 73 33                         # boxpresso/train/solver.cu:73:33
	vmovsd	-112(%rbp), %xmm3               # xmm3 = mem[0],zero
	.loc	3 73 31                         # boxpresso/train/solver.cu:73:31
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 73 21                         # boxpresso/train/solver.cu:73:21
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -248(%rbp)               # 8-byte Spill
	.loc	3 73 5                          # boxpresso/train/solver.cu:73:5
	movq	-32(%rbp), %rsi
	movq	%rsi, -240(%rbp)                # 8-byte Spill
	.loc	3 73 7                          # boxpresso/train/solver.cu:73:7
	movslq	-100(%rbp), %rdi
	.loc	3 73 10                         # boxpresso/train/solver.cu:73:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -232(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -224(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_18
# %bb.17:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-232(%rbp), %rdx                # 8-byte Reload
	movq	-240(%rbp), %rsi                # 8-byte Reload
	.loc	3 73 10                         # boxpresso/train/solver.cu:73:10
	leaq	.L__unnamed_113(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_18:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-224(%rbp), %rcx                # 8-byte Reload
	.loc	3 73 10                         # boxpresso/train/solver.cu:73:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_20
# %bb.19:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-224(%rbp), %rsi                # 8-byte Reload
	.loc	3 73 10                         # boxpresso/train/solver.cu:73:10
	leaq	.L__unnamed_114(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_20:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-224(%rbp), %rax                # 8-byte Reload
	vmovsd	-248(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	3 73 10                         # boxpresso/train/solver.cu:73:10
	vmovsd	%xmm0, (%rax)
	.loc	3 74 12 is_stmt 1               # boxpresso/train/solver.cu:74:12
	vmovsd	-96(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -280(%rbp)               # 8-byte Spill
	.loc	3 74 16 is_stmt 0               # boxpresso/train/solver.cu:74:16
	movq	-40(%rbp), %rsi
	movq	%rsi, -272(%rbp)                # 8-byte Spill
	.loc	3 74 18                         # boxpresso/train/solver.cu:74:18
	movslq	-100(%rbp), %rdi
	.loc	3 74 16                         # boxpresso/train/solver.cu:74:16
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -264(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -256(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_22
# %bb.21:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 16                          # boxpresso/train/solver.cu:0:16
	movq	-264(%rbp), %rdx                # 8-byte Reload
	movq	-272(%rbp), %rsi                # 8-byte Reload
	.loc	3 74 16                         # boxpresso/train/solver.cu:74:16
	leaq	.L__unnamed_115(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_22:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 16                          # boxpresso/train/solver.cu:0:16
	movq	-256(%rbp), %rcx                # 8-byte Reload
	.loc	3 74 16                         # boxpresso/train/solver.cu:74:16
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_24
# %bb.23:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 16                          # boxpresso/train/solver.cu:0:16
	movq	-256(%rbp), %rsi                # 8-byte Reload
	.loc	3 74 16                         # boxpresso/train/solver.cu:74:16
	leaq	.L__unnamed_116(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_24:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 16                          # boxpresso/train/solver.cu:0:16
	vmovsd	-280(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-256(%rbp), %rax                # 8-byte Reload
	.loc	3 74 16                         # boxpresso/train/solver.cu:74:16
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	.loc	3 74 28                         # boxpresso/train/solver.cu:74:28
	vmovsd	-96(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	.LCPI10_0(%rip), %xmm2          # xmm2 = [1.0E+0,0.0E+0]
	.loc	3 74 26                         # boxpresso/train/solver.cu:74:26
	vsubsd	%xmm3, %xmm2, %xmm2
	.loc	3 74 33                         # boxpresso/train/solver.cu:74:33
	vmovsd	-112(%rbp), %xmm3               # xmm3 = mem[0],zero
	.loc	3 74 31                         # boxpresso/train/solver.cu:74:31
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 74 35                         # boxpresso/train/solver.cu:74:35
	vmulsd	%xmm3, %xmm2, %xmm2
	.loc	3 74 21                         # boxpresso/train/solver.cu:74:21
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -312(%rbp)               # 8-byte Spill
	.loc	3 74 5                          # boxpresso/train/solver.cu:74:5
	movq	-40(%rbp), %rsi
	movq	%rsi, -304(%rbp)                # 8-byte Spill
	.loc	3 74 7                          # boxpresso/train/solver.cu:74:7
	movslq	-100(%rbp), %rdi
	.loc	3 74 10                         # boxpresso/train/solver.cu:74:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -296(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -288(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_26
# %bb.25:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-296(%rbp), %rdx                # 8-byte Reload
	movq	-304(%rbp), %rsi                # 8-byte Reload
	.loc	3 74 10                         # boxpresso/train/solver.cu:74:10
	leaq	.L__unnamed_117(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_26:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-288(%rbp), %rcx                # 8-byte Reload
	.loc	3 74 10                         # boxpresso/train/solver.cu:74:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_28
# %bb.27:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-288(%rbp), %rsi                # 8-byte Reload
	.loc	3 74 10                         # boxpresso/train/solver.cu:74:10
	leaq	.L__unnamed_118(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_28:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-288(%rbp), %rax                # 8-byte Reload
	vmovsd	-312(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	.loc	3 74 10                         # boxpresso/train/solver.cu:74:10
	vmovsd	%xmm0, (%rax)
	.loc	3 75 13 is_stmt 1               # boxpresso/train/solver.cu:75:13
	vmovsd	-72(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -344(%rbp)               # 8-byte Spill
	.loc	3 75 20 is_stmt 0               # boxpresso/train/solver.cu:75:20
	movq	-32(%rbp), %rsi
	movq	%rsi, -336(%rbp)                # 8-byte Spill
	.loc	3 75 22                         # boxpresso/train/solver.cu:75:22
	movslq	-100(%rbp), %rdi
	.loc	3 75 20                         # boxpresso/train/solver.cu:75:20
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -328(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -320(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_30
# %bb.29:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 20                          # boxpresso/train/solver.cu:0:20
	movq	-328(%rbp), %rdx                # 8-byte Reload
	movq	-336(%rbp), %rsi                # 8-byte Reload
	.loc	3 75 20                         # boxpresso/train/solver.cu:75:20
	leaq	.L__unnamed_119(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_30:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 20                          # boxpresso/train/solver.cu:0:20
	movq	-320(%rbp), %rcx                # 8-byte Reload
	.loc	3 75 20                         # boxpresso/train/solver.cu:75:20
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_32
# %bb.31:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 20                          # boxpresso/train/solver.cu:0:20
	movq	-320(%rbp), %rsi                # 8-byte Reload
	.loc	3 75 20                         # boxpresso/train/solver.cu:75:20
	leaq	.L__unnamed_120(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_32:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 20                          # boxpresso/train/solver.cu:0:20
	vmovsd	-344(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-320(%rbp), %rax                # 8-byte Reload
	.loc	3 75 20                         # boxpresso/train/solver.cu:75:20
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	.loc	3 75 18                         # boxpresso/train/solver.cu:75:18
	vmulsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -376(%rbp)               # 8-byte Spill
	.loc	3 75 33                         # boxpresso/train/solver.cu:75:33
	movq	-40(%rbp), %rsi
	movq	%rsi, -368(%rbp)                # 8-byte Spill
	.loc	3 75 35                         # boxpresso/train/solver.cu:75:35
	movslq	-100(%rbp), %rdi
	.loc	3 75 33                         # boxpresso/train/solver.cu:75:33
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -360(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -352(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_34
# %bb.33:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 33                          # boxpresso/train/solver.cu:0:33
	movq	-360(%rbp), %rdx                # 8-byte Reload
	movq	-368(%rbp), %rsi                # 8-byte Reload
	.loc	3 75 33                         # boxpresso/train/solver.cu:75:33
	leaq	.L__unnamed_121(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_34:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 33                          # boxpresso/train/solver.cu:0:33
	movq	-352(%rbp), %rcx                # 8-byte Reload
	.loc	3 75 33                         # boxpresso/train/solver.cu:75:33
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_36
# %bb.35:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 33                          # boxpresso/train/solver.cu:0:33
	movq	-352(%rbp), %rsi                # 8-byte Reload
	.loc	3 75 33                         # boxpresso/train/solver.cu:75:33
	leaq	.L__unnamed_122(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_36:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 33                          # boxpresso/train/solver.cu:0:33
	vmovsd	-376(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-352(%rbp), %rax                # 8-byte Reload
	.loc	3 75 33                         # boxpresso/train/solver.cu:75:33
	vmovsd	(%rax), %xmm2                   # xmm2 = mem[0],zero
                                        # implicit-def: $xmm1
	.loc	3 75 28                         # boxpresso/train/solver.cu:75:28
	vsqrtsd	%xmm2, %xmm1, %xmm1
	.loc	3 75 41                         # boxpresso/train/solver.cu:75:41
	vmovsd	-80(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	3 75 39                         # boxpresso/train/solver.cu:75:39
	vaddsd	%xmm2, %xmm1, %xmm1
	.loc	3 75 25                         # boxpresso/train/solver.cu:75:25
	vdivsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -408(%rbp)               # 8-byte Spill
	.loc	3 75 5                          # boxpresso/train/solver.cu:75:5
	movq	-16(%rbp), %rsi
	movq	%rsi, -400(%rbp)                # 8-byte Spill
	.loc	3 75 7                          # boxpresso/train/solver.cu:75:7
	movslq	-100(%rbp), %rdi
	.loc	3 75 10                         # boxpresso/train/solver.cu:75:10
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -392(%rbp)                # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -384(%rbp)                # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_38
# %bb.37:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-392(%rbp), %rdx                # 8-byte Reload
	movq	-400(%rbp), %rsi                # 8-byte Reload
	.loc	3 75 10                         # boxpresso/train/solver.cu:75:10
	leaq	.L__unnamed_123(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_38:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-384(%rbp), %rcx                # 8-byte Reload
	.loc	3 75 10                         # boxpresso/train/solver.cu:75:10
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_40
# %bb.39:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-384(%rbp), %rsi                # 8-byte Reload
	.loc	3 75 10                         # boxpresso/train/solver.cu:75:10
	leaq	.L__unnamed_124(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_40:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 10                          # boxpresso/train/solver.cu:0:10
	movq	-384(%rbp), %rax                # 8-byte Reload
	vmovsd	-408(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	.loc	3 75 10                         # boxpresso/train/solver.cu:75:10
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vsubsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
.Ltmp82:
# %bb.41:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 71 3 is_stmt 1                # boxpresso/train/solver.cu:71:3
	movl	-100(%rbp), %eax
	movl	%eax, -416(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -412(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB10_43
# %bb.42:                               #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 3 is_stmt 0                 # boxpresso/train/solver.cu:0:3
	movl	-416(%rbp), %eax                # 4-byte Reload
	.loc	3 71 3                          # boxpresso/train/solver.cu:71:3
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_125(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB10_43:                              #   in Loop: Header=BB10_3 Depth=1
	.loc	3 0 3                           # boxpresso/train/solver.cu:0:3
	movl	-412(%rbp), %eax                # 4-byte Reload
	.loc	3 71 3                          # boxpresso/train/solver.cu:71:3
	movl	%eax, -100(%rbp)
	jmp	.LBB10_3
.Ltmp83:
.LBB10_44:
	.loc	3 77 1 epilogue_begin is_stmt 1 # boxpresso/train/solver.cu:77:1
	addq	$416, %rsp                      # imm = 0x1A0
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp84:
.Lfunc_end10:
	.size	adam, .Lfunc_end10-adam
	.cfi_endproc
                                        # -- End function
	.globl	run_square_sums                 # -- Begin function run_square_sums
	.p2align	4
	.type	run_square_sums,@function
run_square_sums:                        # @run_square_sums
.Lfunc_begin11:
	.file	4 "/root/.cache/zig/tmp" "11979bcbd9bddb5be7afef58157a6919-stdin.cpp"
	.loc	4 5 0                           # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:5:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$32, %rsp
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
	movq	%rdx, -16(%rbp)
	movq	%rcx, -24(%rbp)
	movl	%r8d, -28(%rbp)
	movl	%r9d, -32(%rbp)
.Ltmp85:
	.loc	4 11 3 prologue_end             # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:11:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	.loc	4 11 10 is_stmt 0               # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:11:10
	movl	$0, (%rax)
	.loc	4 11 15                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:11:15
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	.loc	4 11 23                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:11:23
	movl	$1, (%rax)
	.loc	4 11 40                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:11:40
	movl	-8(%rbp), %edi
	.loc	4 11 43                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:11:43
	movq	-16(%rbp), %rsi
	.loc	4 11 46                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:11:46
	movq	-24(%rbp), %rdx
	.loc	4 11 55                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:11:55
	movl	-28(%rbp), %ecx
	.loc	4 11 62                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:11:62
	movl	-32(%rbp), %r8d
	.loc	4 11 28                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:11:28
	callq	square_sums@PLT
	.loc	4 13 1 epilogue_begin is_stmt 1 # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:13:1
	addq	$32, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp86:
.Lfunc_end11:
	.size	run_square_sums, .Lfunc_end11-run_square_sums
	.cfi_endproc
                                        # -- End function
	.globl	run_sgd                         # -- Begin function run_sgd
	.p2align	4
	.type	run_sgd,@function
run_sgd:                                # @run_sgd
.Lfunc_begin12:
	.loc	4 14 0                          # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:14:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$80, %rsp
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
	movq	%rdx, -16(%rbp)
	movq	%rcx, -24(%rbp)
	movq	%r8, -32(%rbp)
	vmovsd	%xmm0, -40(%rbp)
	vmovsd	%xmm1, -48(%rbp)
	movl	%r9d, -52(%rbp)
	vmovsd	%xmm2, -64(%rbp)
	vmovsd	%xmm3, -72(%rbp)
.Ltmp87:
	.loc	4 20 3 prologue_end             # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	.loc	4 20 10 is_stmt 0               # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:10
	movl	$0, (%rax)
	.loc	4 20 15                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:15
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	.loc	4 20 23                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:23
	movl	$1, (%rax)
	.loc	4 20 32                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:32
	movl	-8(%rbp), %edi
	.loc	4 20 35                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:35
	movq	-16(%rbp), %rsi
	.loc	4 20 38                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:38
	movq	-24(%rbp), %rdx
	.loc	4 20 44                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:44
	movq	-32(%rbp), %rcx
	.loc	4 20 47                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:47
	vmovsd	-40(%rbp), %xmm0                # xmm0 = mem[0],zero
	.loc	4 20 54                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:54
	vmovsd	-48(%rbp), %xmm1                # xmm1 = mem[0],zero
	.loc	4 20 61                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:61
	movl	-52(%rbp), %r8d
	.loc	4 20 65                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:65
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	4 20 71                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:71
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	4 20 28                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:20:28
	callq	sgd@PLT
	.loc	4 22 1 epilogue_begin is_stmt 1 # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:22:1
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp88:
.Lfunc_end12:
	.size	run_sgd, .Lfunc_end12-run_sgd
	.cfi_endproc
                                        # -- End function
	.globl	run_nesterov                    # -- Begin function run_nesterov
	.p2align	4
	.type	run_nesterov,@function
run_nesterov:                           # @run_nesterov
.Lfunc_begin13:
	.loc	4 23 0                          # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:23:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$80, %rsp
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
	movq	%rdx, -16(%rbp)
	movq	%rcx, -24(%rbp)
	movq	%r8, -32(%rbp)
	vmovsd	%xmm0, -40(%rbp)
	vmovsd	%xmm1, -48(%rbp)
	movl	%r9d, -52(%rbp)
	vmovsd	%xmm2, -64(%rbp)
	vmovsd	%xmm3, -72(%rbp)
.Ltmp89:
	.loc	4 29 3 prologue_end             # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	.loc	4 29 10 is_stmt 0               # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:10
	movl	$0, (%rax)
	.loc	4 29 15                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:15
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	.loc	4 29 23                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:23
	movl	$1, (%rax)
	.loc	4 29 37                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:37
	movl	-8(%rbp), %edi
	.loc	4 29 40                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:40
	movq	-16(%rbp), %rsi
	.loc	4 29 43                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:43
	movq	-24(%rbp), %rdx
	.loc	4 29 49                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:49
	movq	-32(%rbp), %rcx
	.loc	4 29 52                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:52
	vmovsd	-40(%rbp), %xmm0                # xmm0 = mem[0],zero
	.loc	4 29 59                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:59
	vmovsd	-48(%rbp), %xmm1                # xmm1 = mem[0],zero
	.loc	4 29 66                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:66
	movl	-52(%rbp), %r8d
	.loc	4 29 70                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:70
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	4 29 76                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:76
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	4 29 28                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:29:28
	callq	nesterov@PLT
	.loc	4 31 1 epilogue_begin is_stmt 1 # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:31:1
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp90:
.Lfunc_end13:
	.size	run_nesterov, .Lfunc_end13-run_nesterov
	.cfi_endproc
                                        # -- End function
	.globl	run_adagrad                     # -- Begin function run_adagrad
	.p2align	4
	.type	run_adagrad,@function
run_adagrad:                            # @run_adagrad
.Lfunc_begin14:
	.loc	4 32 0                          # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:32:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$80, %rsp
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
	movq	%rdx, -16(%rbp)
	movq	%rcx, -24(%rbp)
	movq	%r8, -32(%rbp)
	vmovsd	%xmm0, -40(%rbp)
	vmovsd	%xmm1, -48(%rbp)
	movl	%r9d, -52(%rbp)
	vmovsd	%xmm2, -64(%rbp)
	vmovsd	%xmm3, -72(%rbp)
.Ltmp91:
	.loc	4 38 3 prologue_end             # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	.loc	4 38 10 is_stmt 0               # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:10
	movl	$0, (%rax)
	.loc	4 38 15                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:15
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	.loc	4 38 23                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:23
	movl	$1, (%rax)
	.loc	4 38 36                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:36
	movl	-8(%rbp), %edi
	.loc	4 38 39                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:39
	movq	-16(%rbp), %rsi
	.loc	4 38 42                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:42
	movq	-24(%rbp), %rdx
	.loc	4 38 48                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:48
	movq	-32(%rbp), %rcx
	.loc	4 38 51                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:51
	vmovsd	-40(%rbp), %xmm0                # xmm0 = mem[0],zero
	.loc	4 38 58                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:58
	vmovsd	-48(%rbp), %xmm1                # xmm1 = mem[0],zero
	.loc	4 38 65                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:65
	movl	-52(%rbp), %r8d
	.loc	4 38 69                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:69
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	4 38 75                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:75
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	4 38 28                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:38:28
	callq	adagrad@PLT
	.loc	4 40 1 epilogue_begin is_stmt 1 # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:40:1
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp92:
.Lfunc_end14:
	.size	run_adagrad, .Lfunc_end14-run_adagrad
	.cfi_endproc
                                        # -- End function
	.globl	run_rmsprop                     # -- Begin function run_rmsprop
	.p2align	4
	.type	run_rmsprop,@function
run_rmsprop:                            # @run_rmsprop
.Lfunc_begin15:
	.loc	4 41 0                          # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:41:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$80, %rsp
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
	movq	%rdx, -16(%rbp)
	movq	%rcx, -24(%rbp)
	movq	%r8, -32(%rbp)
	vmovsd	%xmm0, -40(%rbp)
	vmovsd	%xmm1, -48(%rbp)
	movl	%r9d, -52(%rbp)
	vmovsd	%xmm2, -64(%rbp)
	vmovsd	%xmm3, -72(%rbp)
	vmovsd	%xmm4, -80(%rbp)
.Ltmp93:
	.loc	4 47 3 prologue_end             # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	.loc	4 47 10 is_stmt 0               # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:10
	movl	$0, (%rax)
	.loc	4 47 15                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:15
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	.loc	4 47 23                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:23
	movl	$1, (%rax)
	.loc	4 47 36                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:36
	movl	-8(%rbp), %edi
	.loc	4 47 39                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:39
	movq	-16(%rbp), %rsi
	.loc	4 47 42                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:42
	movq	-24(%rbp), %rdx
	.loc	4 47 48                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:48
	movq	-32(%rbp), %rcx
	.loc	4 47 51                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:51
	vmovsd	-40(%rbp), %xmm0                # xmm0 = mem[0],zero
	.loc	4 47 58                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:58
	vmovsd	-48(%rbp), %xmm1                # xmm1 = mem[0],zero
	.loc	4 47 65                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:65
	movl	-52(%rbp), %r8d
	.loc	4 47 69                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:69
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	4 47 75                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:75
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	4 47 82                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:82
	vmovsd	-80(%rbp), %xmm4                # xmm4 = mem[0],zero
	.loc	4 47 28                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:47:28
	callq	rmsprop@PLT
	.loc	4 49 1 epilogue_begin is_stmt 1 # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:49:1
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp94:
.Lfunc_end15:
	.size	run_rmsprop, .Lfunc_end15-run_rmsprop
	.cfi_endproc
                                        # -- End function
	.globl	run_adadelta                    # -- Begin function run_adadelta
	.p2align	4
	.type	run_adadelta,@function
run_adadelta:                           # @run_adadelta
.Lfunc_begin16:
	.loc	4 50 0                          # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:50:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$80, %rsp
	movl	16(%rbp), %eax
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
	movq	%rdx, -16(%rbp)
	movq	%rcx, -24(%rbp)
	movq	%r8, -32(%rbp)
	movq	%r9, -40(%rbp)
	vmovsd	%xmm0, -48(%rbp)
	vmovsd	%xmm1, -56(%rbp)
	vmovsd	%xmm2, -64(%rbp)
	vmovsd	%xmm3, -72(%rbp)
	vmovsd	%xmm4, -80(%rbp)
.Ltmp95:
	.loc	4 56 3 prologue_end             # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	.loc	4 56 10 is_stmt 0               # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:10
	movl	$0, (%rax)
	.loc	4 56 15                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:15
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	.loc	4 56 23                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:23
	movl	$1, (%rax)
	.loc	4 56 37                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:37
	movl	-8(%rbp), %edi
	.loc	4 56 40                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:40
	movq	-16(%rbp), %rsi
	.loc	4 56 43                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:43
	movq	-24(%rbp), %rdx
	.loc	4 56 49                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:49
	movq	-32(%rbp), %rcx
	.loc	4 56 52                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:52
	movq	-40(%rbp), %r8
	.loc	4 56 55                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:55
	vmovsd	-48(%rbp), %xmm0                # xmm0 = mem[0],zero
	.loc	4 56 62                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:62
	vmovsd	-56(%rbp), %xmm1                # xmm1 = mem[0],zero
	.loc	4 56 69                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:69
	movl	16(%rbp), %r9d
	.loc	4 56 73                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:73
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	4 56 79                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:79
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	4 56 86                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:86
	vmovsd	-80(%rbp), %xmm4                # xmm4 = mem[0],zero
	.loc	4 56 28                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:56:28
	callq	adadelta@PLT
	.loc	4 58 1 epilogue_begin is_stmt 1 # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:58:1
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp96:
.Lfunc_end16:
	.size	run_adadelta, .Lfunc_end16-run_adadelta
	.cfi_endproc
                                        # -- End function
	.globl	run_adam                        # -- Begin function run_adam
	.p2align	4
	.type	run_adam,@function
run_adam:                               # @run_adam
.Lfunc_begin17:
	.loc	4 59 0                          # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:59:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$96, %rsp
	movl	16(%rbp), %eax
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
	movq	%rdx, -16(%rbp)
	movq	%rcx, -24(%rbp)
	movq	%r8, -32(%rbp)
	movq	%r9, -40(%rbp)
	vmovsd	%xmm0, -48(%rbp)
	vmovsd	%xmm1, -56(%rbp)
	vmovsd	%xmm2, -64(%rbp)
	vmovsd	%xmm3, -72(%rbp)
	vmovsd	%xmm4, -80(%rbp)
	vmovsd	%xmm5, -88(%rbp)
.Ltmp97:
	.loc	4 65 3 prologue_end             # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:3
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	.loc	4 65 10 is_stmt 0               # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:10
	movl	$0, (%rax)
	.loc	4 65 15                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:15
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	.loc	4 65 23                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:23
	movl	$1, (%rax)
	.loc	4 65 33                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:33
	movl	-8(%rbp), %edi
	.loc	4 65 36                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:36
	movq	-16(%rbp), %rsi
	.loc	4 65 39                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:39
	movq	-24(%rbp), %rdx
	.loc	4 65 45                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:45
	movq	-32(%rbp), %rcx
	.loc	4 65 48                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:48
	movq	-40(%rbp), %r8
	.loc	4 65 51                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:51
	vmovsd	-48(%rbp), %xmm0                # xmm0 = mem[0],zero
	.loc	4 65 58                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:58
	vmovsd	-56(%rbp), %xmm1                # xmm1 = mem[0],zero
	.loc	4 65 65                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:65
	movl	16(%rbp), %r9d
	.loc	4 65 69                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:69
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	.loc	4 65 75                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:75
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	.loc	4 65 82                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:82
	vmovsd	-80(%rbp), %xmm4                # xmm4 = mem[0],zero
	.loc	4 65 85                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:85
	vmovsd	-88(%rbp), %xmm5                # xmm5 = mem[0],zero
	.loc	4 65 28                         # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:65:28
	callq	adam@PLT
	.loc	4 67 1 epilogue_begin is_stmt 1 # /root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp:67:1
	addq	$96, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp98:
.Lfunc_end17:
	.size	run_adam, .Lfunc_end17-run_adam
	.cfi_endproc
                                        # -- End function
	.p2align	4                               # -- Begin function _ZZ11square_sumsENK3$_0clEi
	.type	_ZZ11square_sumsENK3$_0clEi,@function
_ZZ11square_sumsENK3$_0clEi:            # @"_ZZ11square_sumsENK3$_0clEi"
.Lfunc_begin18:
	.loc	3 16 0                          # boxpresso/train/solver.cu:16:0
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$80, %rsp
	.loc	3 16 0 prologue_end             # boxpresso/train/solver.cu:16:0
	movq	%rdi, -8(%rbp)
	movl	%esi, -12(%rbp)
	movq	-8(%rbp), %rcx
	movq	%rcx, -24(%rbp)                 # 8-byte Spill
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB18_2
# %bb.1:
	movq	-24(%rbp), %rsi                 # 8-byte Reload
.Ltmp99:
	.loc	3 0 0 is_stmt 0                 # boxpresso/train/solver.cu:0
	leaq	.L__unnamed_126(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB18_2:
	movq	-24(%rbp), %rax                 # 8-byte Reload
	.loc	3 16 98 is_stmt 1               # boxpresso/train/solver.cu:16:98
	movq	(%rax), %rax
	movq	(%rax), %rsi
	movq	%rsi, -48(%rbp)                 # 8-byte Spill
	.loc	3 16 103 is_stmt 0              # boxpresso/train/solver.cu:16:103
	movslq	-12(%rbp), %rdi
	.loc	3 16 98                         # boxpresso/train/solver.cu:16:98
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -40(%rbp)                 # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -32(%rbp)                 # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB18_4
# %bb.3:
	.loc	3 0 98                          # boxpresso/train/solver.cu:0:98
	movq	-40(%rbp), %rdx                 # 8-byte Reload
	movq	-48(%rbp), %rsi                 # 8-byte Reload
	.loc	3 16 98                         # boxpresso/train/solver.cu:16:98
	leaq	.L__unnamed_127(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB18_4:
	.loc	3 0 98                          # boxpresso/train/solver.cu:0:98
	movq	-32(%rbp), %rcx                 # 8-byte Reload
	.loc	3 16 98                         # boxpresso/train/solver.cu:16:98
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB18_6
# %bb.5:
	.loc	3 0 98                          # boxpresso/train/solver.cu:0:98
	movq	-32(%rbp), %rsi                 # 8-byte Reload
	.loc	3 16 98                         # boxpresso/train/solver.cu:16:98
	leaq	.L__unnamed_128(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB18_6:
	.loc	3 0 98                          # boxpresso/train/solver.cu:0:98
	movq	-24(%rbp), %rax                 # 8-byte Reload
	movq	-32(%rbp), %rcx                 # 8-byte Reload
	.loc	3 16 98                         # boxpresso/train/solver.cu:16:98
	vmovsd	(%rcx), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -80(%rbp)                # 8-byte Spill
	.loc	3 16 109                        # boxpresso/train/solver.cu:16:109
	movq	(%rax), %rax
	movq	(%rax), %rsi
	movq	%rsi, -72(%rbp)                 # 8-byte Spill
	.loc	3 16 114                        # boxpresso/train/solver.cu:16:114
	movslq	-12(%rbp), %rdi
	.loc	3 16 109                        # boxpresso/train/solver.cu:16:109
	leaq	(%rsi,%rdi,8), %rcx
	movq	%rcx, -64(%rbp)                 # 8-byte Spill
	shlq	$3, %rdi
	movq	%rcx, %rax
	movq	%rax, -56(%rbp)                 # 8-byte Spill
	testq	%rsi, %rsi
	setne	%al
	testq	%rcx, %rcx
	setne	%dl
	xorb	%dl, %al
	xorb	$1, %al
	movb	$1, %dl
	subq	%rsi, %rcx
	setae	%sil
	setb	%cl
	testq	%rdi, %rdi
	movzbl	%sil, %esi
	movzbl	%cl, %ecx
	cmovnsl	%esi, %ecx
                                        # kill: def $cl killed $cl killed $ecx
	andb	%dl, %cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB18_8
# %bb.7:
	.loc	3 0 109                         # boxpresso/train/solver.cu:0:109
	movq	-64(%rbp), %rdx                 # 8-byte Reload
	movq	-72(%rbp), %rsi                 # 8-byte Reload
	.loc	3 16 109                        # boxpresso/train/solver.cu:16:109
	leaq	.L__unnamed_129(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB18_8:
	.loc	3 0 109                         # boxpresso/train/solver.cu:0:109
	movq	-56(%rbp), %rcx                 # 8-byte Reload
	.loc	3 16 109                        # boxpresso/train/solver.cu:16:109
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB18_10
# %bb.9:
	.loc	3 0 109                         # boxpresso/train/solver.cu:0:109
	movq	-56(%rbp), %rsi                 # 8-byte Reload
	.loc	3 16 109                        # boxpresso/train/solver.cu:16:109
	leaq	.L__unnamed_130(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB18_10:
	.loc	3 0 109                         # boxpresso/train/solver.cu:0:109
	vmovsd	-80(%rbp), %xmm0                # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-56(%rbp), %rax                 # 8-byte Reload
	.loc	3 16 107                        # boxpresso/train/solver.cu:16:107
	vmulsd	(%rax), %xmm0, %xmm0
	.loc	3 16 84 epilogue_begin          # boxpresso/train/solver.cu:16:84
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp100:
.Lfunc_end18:
	.size	_ZZ11square_sumsENK3$_0clEi, .Lfunc_end18-_ZZ11square_sumsENK3$_0clEi
	.cfi_endproc
                                        # -- End function
	.type	_ZL6worker,@object              # @_ZL6worker
	.section	.tbss,"awT",@nobits
	.p2align	2, 0x0
_ZL6worker:
	.long	0                               # 0x0
	.size	_ZL6worker, 4

	.type	.L.src,@object                  # @.src
	.section	.rodata.str1.1,"aMS",@progbits,1
.L.src:
	.asciz	"/tmp/wt/families/boxpresso/train/solver.cu"
	.size	.L.src, 43

	.type	.L__unnamed_131,@object         # @0
	.section	.rodata,"a",@progbits
	.p2align	3, 0x0
.L__unnamed_131:
	.short	0                               # 0x0
	.short	11                              # 0xb
	.asciz	"'int'"
	.size	.L__unnamed_131, 10

	.type	.L__unnamed_1,@object           # @1
	.data
	.p2align	4, 0x0
.L__unnamed_1:
	.quad	.L.src
	.long	13                              # 0xd
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_1, 24

	.type	.L__unnamed_2,@object           # @2
	.p2align	4, 0x0
.L__unnamed_2:
	.quad	.L.src
	.long	15                              # 0xf
	.long	30                              # 0x1e
	.quad	.L__unnamed_131
	.size	.L__unnamed_2, 24

	.type	.L__unnamed_3,@object           # @3
	.p2align	3, 0x0
.L__unnamed_3:
	.quad	.L.src
	.long	15                              # 0xf
	.long	26                              # 0x1a
	.size	.L__unnamed_3, 16

	.type	.L__unnamed_4,@object           # @4
	.p2align	4, 0x0
.L__unnamed_4:
	.quad	.L.src
	.long	16                              # 0x10
	.long	61                              # 0x3d
	.quad	.L__unnamed_131
	.size	.L__unnamed_4, 24

	.type	.L__unnamed_5,@object           # @5
	.p2align	4, 0x0
.L__unnamed_5:
	.quad	.L.src
	.long	16                              # 0x10
	.long	57                              # 0x39
	.quad	.L__unnamed_131
	.size	.L__unnamed_5, 24

	.type	.L__unnamed_6,@object           # @6
	.p2align	3, 0x0
.L__unnamed_6:
	.quad	.L.src
	.long	17                              # 0x11
	.long	23                              # 0x17
	.size	.L__unnamed_6, 16

	.type	.L__unnamed_132,@object         # @7
	.section	.rodata,"a",@progbits
	.p2align	3, 0x0
.L__unnamed_132:
	.short	1                               # 0x1
	.short	64                              # 0x40
	.asciz	"'double'"
	.zero	1
	.size	.L__unnamed_132, 14

	.type	.L__unnamed_7,@object           # @8
	.data
	.p2align	4, 0x0
.L__unnamed_7:
	.quad	.L.src
	.long	17                              # 0x11
	.long	23                              # 0x17
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_7, 32

	.type	.L__unnamed_8,@object           # @9
	.p2align	4, 0x0
.L__unnamed_8:
	.quad	.L.src
	.long	17                              # 0x11
	.long	5                               # 0x5
	.quad	.L__unnamed_131
	.size	.L__unnamed_8, 24

	.type	.L__unnamed_9,@object           # @10
	.p2align	4, 0x0
.L__unnamed_9:
	.quad	.L.src
	.long	13                              # 0xd
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_9, 24

	.type	.L__unnamed_32,@object          # @11
	.p2align	4, 0x0
.L__unnamed_32:
	.quad	.L.src
	.long	23                              # 0x17
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_32, 24

	.type	.L__unnamed_33,@object          # @12
	.p2align	3, 0x0
.L__unnamed_33:
	.quad	.L.src
	.long	24                              # 0x18
	.long	28                              # 0x1c
	.size	.L__unnamed_33, 16

	.type	.L__unnamed_133,@object         # @13
	.section	.rodata,"a",@progbits
	.p2align	4, 0x0
.L__unnamed_133:
	.short	1                               # 0x1
	.short	64                              # 0x40
	.asciz	"'const double'"
	.zero	1
	.size	.L__unnamed_133, 20

	.type	.L__unnamed_34,@object          # @14
	.data
	.p2align	4, 0x0
.L__unnamed_34:
	.quad	.L.src
	.long	24                              # 0x18
	.long	28                              # 0x1c
	.quad	.L__unnamed_133
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_34, 32

	.type	.L__unnamed_35,@object          # @15
	.p2align	3, 0x0
.L__unnamed_35:
	.quad	.L.src
	.long	24                              # 0x18
	.long	37                              # 0x25
	.size	.L__unnamed_35, 16

	.type	.L__unnamed_36,@object          # @16
	.p2align	4, 0x0
.L__unnamed_36:
	.quad	.L.src
	.long	24                              # 0x18
	.long	37                              # 0x25
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_36, 32

	.type	.L__unnamed_37,@object          # @17
	.p2align	3, 0x0
.L__unnamed_37:
	.quad	.L.src
	.long	24                              # 0x18
	.long	74                              # 0x4a
	.size	.L__unnamed_37, 16

	.type	.L__unnamed_38,@object          # @18
	.p2align	4, 0x0
.L__unnamed_38:
	.quad	.L.src
	.long	24                              # 0x18
	.long	74                              # 0x4a
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_38, 32

	.type	.L__unnamed_39,@object          # @19
	.p2align	3, 0x0
.L__unnamed_39:
	.quad	.L.src
	.long	24                              # 0x18
	.long	5                               # 0x5
	.size	.L__unnamed_39, 16

	.type	.L__unnamed_40,@object          # @20
	.p2align	4, 0x0
.L__unnamed_40:
	.quad	.L.src
	.long	24                              # 0x18
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_40, 32

	.type	.L__unnamed_41,@object          # @21
	.p2align	3, 0x0
.L__unnamed_41:
	.quad	.L.src
	.long	25                              # 0x19
	.long	13                              # 0xd
	.size	.L__unnamed_41, 16

	.type	.L__unnamed_42,@object          # @22
	.p2align	4, 0x0
.L__unnamed_42:
	.quad	.L.src
	.long	25                              # 0x19
	.long	13                              # 0xd
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_42, 32

	.type	.L__unnamed_43,@object          # @23
	.p2align	3, 0x0
.L__unnamed_43:
	.quad	.L.src
	.long	25                              # 0x19
	.long	5                               # 0x5
	.size	.L__unnamed_43, 16

	.type	.L__unnamed_44,@object          # @24
	.p2align	4, 0x0
.L__unnamed_44:
	.quad	.L.src
	.long	25                              # 0x19
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_44, 32

	.type	.L__unnamed_45,@object          # @25
	.p2align	4, 0x0
.L__unnamed_45:
	.quad	.L.src
	.long	23                              # 0x17
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_45, 24

	.type	.L__unnamed_46,@object          # @26
	.p2align	4, 0x0
.L__unnamed_46:
	.quad	.L.src
	.long	31                              # 0x1f
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_46, 24

	.type	.L__unnamed_47,@object          # @27
	.p2align	3, 0x0
.L__unnamed_47:
	.quad	.L.src
	.long	32                              # 0x20
	.long	25                              # 0x19
	.size	.L__unnamed_47, 16

	.type	.L__unnamed_48,@object          # @28
	.p2align	4, 0x0
.L__unnamed_48:
	.quad	.L.src
	.long	32                              # 0x20
	.long	25                              # 0x19
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_48, 32

	.type	.L__unnamed_49,@object          # @29
	.p2align	3, 0x0
.L__unnamed_49:
	.quad	.L.src
	.long	33                              # 0x21
	.long	28                              # 0x1c
	.size	.L__unnamed_49, 16

	.type	.L__unnamed_50,@object          # @30
	.p2align	4, 0x0
.L__unnamed_50:
	.quad	.L.src
	.long	33                              # 0x21
	.long	28                              # 0x1c
	.quad	.L__unnamed_133
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_50, 32

	.type	.L__unnamed_51,@object          # @31
	.p2align	3, 0x0
.L__unnamed_51:
	.quad	.L.src
	.long	33                              # 0x21
	.long	37                              # 0x25
	.size	.L__unnamed_51, 16

	.type	.L__unnamed_52,@object          # @32
	.p2align	4, 0x0
.L__unnamed_52:
	.quad	.L.src
	.long	33                              # 0x21
	.long	37                              # 0x25
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_52, 32

	.type	.L__unnamed_53,@object          # @33
	.p2align	3, 0x0
.L__unnamed_53:
	.quad	.L.src
	.long	33                              # 0x21
	.long	5                               # 0x5
	.size	.L__unnamed_53, 16

	.type	.L__unnamed_54,@object          # @34
	.p2align	4, 0x0
.L__unnamed_54:
	.quad	.L.src
	.long	33                              # 0x21
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_54, 32

	.type	.L__unnamed_55,@object          # @35
	.p2align	3, 0x0
.L__unnamed_55:
	.quad	.L.src
	.long	34                              # 0x22
	.long	30                              # 0x1e
	.size	.L__unnamed_55, 16

	.type	.L__unnamed_56,@object          # @36
	.p2align	4, 0x0
.L__unnamed_56:
	.quad	.L.src
	.long	34                              # 0x22
	.long	30                              # 0x1e
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_56, 32

	.type	.L__unnamed_57,@object          # @37
	.p2align	3, 0x0
.L__unnamed_57:
	.quad	.L.src
	.long	34                              # 0x22
	.long	5                               # 0x5
	.size	.L__unnamed_57, 16

	.type	.L__unnamed_58,@object          # @38
	.p2align	4, 0x0
.L__unnamed_58:
	.quad	.L.src
	.long	34                              # 0x22
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_58, 32

	.type	.L__unnamed_59,@object          # @39
	.p2align	4, 0x0
.L__unnamed_59:
	.quad	.L.src
	.long	31                              # 0x1f
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_59, 24

	.type	.L__unnamed_60,@object          # @40
	.p2align	4, 0x0
.L__unnamed_60:
	.quad	.L.src
	.long	40                              # 0x28
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_60, 24

	.type	.L__unnamed_61,@object          # @41
	.p2align	3, 0x0
.L__unnamed_61:
	.quad	.L.src
	.long	41                              # 0x29
	.long	29                              # 0x1d
	.size	.L__unnamed_61, 16

	.type	.L__unnamed_62,@object          # @42
	.p2align	4, 0x0
.L__unnamed_62:
	.quad	.L.src
	.long	41                              # 0x29
	.long	29                              # 0x1d
	.quad	.L__unnamed_133
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_62, 32

	.type	.L__unnamed_63,@object          # @43
	.p2align	3, 0x0
.L__unnamed_63:
	.quad	.L.src
	.long	41                              # 0x29
	.long	38                              # 0x26
	.size	.L__unnamed_63, 16

	.type	.L__unnamed_64,@object          # @44
	.p2align	4, 0x0
.L__unnamed_64:
	.quad	.L.src
	.long	41                              # 0x29
	.long	38                              # 0x26
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_64, 32

	.type	.L__unnamed_65,@object          # @45
	.p2align	3, 0x0
.L__unnamed_65:
	.quad	.L.src
	.long	42                              # 0x2a
	.long	5                               # 0x5
	.size	.L__unnamed_65, 16

	.type	.L__unnamed_66,@object          # @46
	.p2align	4, 0x0
.L__unnamed_66:
	.quad	.L.src
	.long	42                              # 0x2a
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_66, 32

	.type	.L__unnamed_67,@object          # @47
	.p2align	3, 0x0
.L__unnamed_67:
	.quad	.L.src
	.long	43                              # 0x2b
	.long	30                              # 0x1e
	.size	.L__unnamed_67, 16

	.type	.L__unnamed_68,@object          # @48
	.p2align	4, 0x0
.L__unnamed_68:
	.quad	.L.src
	.long	43                              # 0x2b
	.long	30                              # 0x1e
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_68, 32

	.type	.L__unnamed_69,@object          # @49
	.p2align	3, 0x0
.L__unnamed_69:
	.quad	.L.src
	.long	43                              # 0x2b
	.long	5                               # 0x5
	.size	.L__unnamed_69, 16

	.type	.L__unnamed_70,@object          # @50
	.p2align	4, 0x0
.L__unnamed_70:
	.quad	.L.src
	.long	43                              # 0x2b
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_70, 32

	.type	.L__unnamed_71,@object          # @51
	.p2align	4, 0x0
.L__unnamed_71:
	.quad	.L.src
	.long	40                              # 0x28
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_71, 24

	.type	.L__unnamed_72,@object          # @52
	.p2align	4, 0x0
.L__unnamed_72:
	.quad	.L.src
	.long	49                              # 0x31
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_72, 24

	.type	.L__unnamed_73,@object          # @53
	.p2align	3, 0x0
.L__unnamed_73:
	.quad	.L.src
	.long	50                              # 0x32
	.long	29                              # 0x1d
	.size	.L__unnamed_73, 16

	.type	.L__unnamed_74,@object          # @54
	.p2align	4, 0x0
.L__unnamed_74:
	.quad	.L.src
	.long	50                              # 0x32
	.long	29                              # 0x1d
	.quad	.L__unnamed_133
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_74, 32

	.type	.L__unnamed_75,@object          # @55
	.p2align	3, 0x0
.L__unnamed_75:
	.quad	.L.src
	.long	50                              # 0x32
	.long	38                              # 0x26
	.size	.L__unnamed_75, 16

	.type	.L__unnamed_76,@object          # @56
	.p2align	4, 0x0
.L__unnamed_76:
	.quad	.L.src
	.long	50                              # 0x32
	.long	38                              # 0x26
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_76, 32

	.type	.L__unnamed_77,@object          # @57
	.p2align	3, 0x0
.L__unnamed_77:
	.quad	.L.src
	.long	51                              # 0x33
	.long	19                              # 0x13
	.size	.L__unnamed_77, 16

	.type	.L__unnamed_78,@object          # @58
	.p2align	4, 0x0
.L__unnamed_78:
	.quad	.L.src
	.long	51                              # 0x33
	.long	19                              # 0x13
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_78, 32

	.type	.L__unnamed_79,@object          # @59
	.p2align	3, 0x0
.L__unnamed_79:
	.quad	.L.src
	.long	51                              # 0x33
	.long	5                               # 0x5
	.size	.L__unnamed_79, 16

	.type	.L__unnamed_80,@object          # @60
	.p2align	4, 0x0
.L__unnamed_80:
	.quad	.L.src
	.long	51                              # 0x33
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_80, 32

	.type	.L__unnamed_81,@object          # @61
	.p2align	3, 0x0
.L__unnamed_81:
	.quad	.L.src
	.long	52                              # 0x34
	.long	30                              # 0x1e
	.size	.L__unnamed_81, 16

	.type	.L__unnamed_82,@object          # @62
	.p2align	4, 0x0
.L__unnamed_82:
	.quad	.L.src
	.long	52                              # 0x34
	.long	30                              # 0x1e
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_82, 32

	.type	.L__unnamed_83,@object          # @63
	.p2align	3, 0x0
.L__unnamed_83:
	.quad	.L.src
	.long	52                              # 0x34
	.long	5                               # 0x5
	.size	.L__unnamed_83, 16

	.type	.L__unnamed_84,@object          # @64
	.p2align	4, 0x0
.L__unnamed_84:
	.quad	.L.src
	.long	52                              # 0x34
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_84, 32

	.type	.L__unnamed_85,@object          # @65
	.p2align	4, 0x0
.L__unnamed_85:
	.quad	.L.src
	.long	49                              # 0x31
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_85, 24

	.type	.L__unnamed_86,@object          # @66
	.p2align	4, 0x0
.L__unnamed_86:
	.quad	.L.src
	.long	59                              # 0x3b
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_86, 24

	.type	.L__unnamed_87,@object          # @67
	.p2align	3, 0x0
.L__unnamed_87:
	.quad	.L.src
	.long	60                              # 0x3c
	.long	29                              # 0x1d
	.size	.L__unnamed_87, 16

	.type	.L__unnamed_88,@object          # @68
	.p2align	4, 0x0
.L__unnamed_88:
	.quad	.L.src
	.long	60                              # 0x3c
	.long	29                              # 0x1d
	.quad	.L__unnamed_133
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_88, 32

	.type	.L__unnamed_89,@object          # @69
	.p2align	3, 0x0
.L__unnamed_89:
	.quad	.L.src
	.long	60                              # 0x3c
	.long	38                              # 0x26
	.size	.L__unnamed_89, 16

	.type	.L__unnamed_90,@object          # @70
	.p2align	4, 0x0
.L__unnamed_90:
	.quad	.L.src
	.long	60                              # 0x3c
	.long	38                              # 0x26
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_90, 32

	.type	.L__unnamed_91,@object          # @71
	.p2align	3, 0x0
.L__unnamed_91:
	.quad	.L.src
	.long	61                              # 0x3d
	.long	19                              # 0x13
	.size	.L__unnamed_91, 16

	.type	.L__unnamed_92,@object          # @72
	.p2align	4, 0x0
.L__unnamed_92:
	.quad	.L.src
	.long	61                              # 0x3d
	.long	19                              # 0x13
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_92, 32

	.type	.L__unnamed_93,@object          # @73
	.p2align	3, 0x0
.L__unnamed_93:
	.quad	.L.src
	.long	61                              # 0x3d
	.long	5                               # 0x5
	.size	.L__unnamed_93, 16

	.type	.L__unnamed_94,@object          # @74
	.p2align	4, 0x0
.L__unnamed_94:
	.quad	.L.src
	.long	61                              # 0x3d
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_94, 32

	.type	.L__unnamed_95,@object          # @75
	.p2align	3, 0x0
.L__unnamed_95:
	.quad	.L.src
	.long	62                              # 0x3e
	.long	41                              # 0x29
	.size	.L__unnamed_95, 16

	.type	.L__unnamed_96,@object          # @76
	.p2align	4, 0x0
.L__unnamed_96:
	.quad	.L.src
	.long	62                              # 0x3e
	.long	41                              # 0x29
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_96, 32

	.type	.L__unnamed_97,@object          # @77
	.p2align	3, 0x0
.L__unnamed_97:
	.quad	.L.src
	.long	62                              # 0x3e
	.long	58                              # 0x3a
	.size	.L__unnamed_97, 16

	.type	.L__unnamed_98,@object          # @78
	.p2align	4, 0x0
.L__unnamed_98:
	.quad	.L.src
	.long	62                              # 0x3e
	.long	58                              # 0x3a
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_98, 32

	.type	.L__unnamed_99,@object          # @79
	.p2align	3, 0x0
.L__unnamed_99:
	.quad	.L.src
	.long	63                              # 0x3f
	.long	19                              # 0x13
	.size	.L__unnamed_99, 16

	.type	.L__unnamed_100,@object         # @80
	.p2align	4, 0x0
.L__unnamed_100:
	.quad	.L.src
	.long	63                              # 0x3f
	.long	19                              # 0x13
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_100, 32

	.type	.L__unnamed_101,@object         # @81
	.p2align	3, 0x0
.L__unnamed_101:
	.quad	.L.src
	.long	63                              # 0x3f
	.long	5                               # 0x5
	.size	.L__unnamed_101, 16

	.type	.L__unnamed_102,@object         # @82
	.p2align	4, 0x0
.L__unnamed_102:
	.quad	.L.src
	.long	63                              # 0x3f
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_102, 32

	.type	.L__unnamed_103,@object         # @83
	.p2align	3, 0x0
.L__unnamed_103:
	.quad	.L.src
	.long	64                              # 0x40
	.long	5                               # 0x5
	.size	.L__unnamed_103, 16

	.type	.L__unnamed_104,@object         # @84
	.p2align	4, 0x0
.L__unnamed_104:
	.quad	.L.src
	.long	64                              # 0x40
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_104, 32

	.type	.L__unnamed_105,@object         # @85
	.p2align	4, 0x0
.L__unnamed_105:
	.quad	.L.src
	.long	59                              # 0x3b
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_105, 24

	.type	.L__unnamed_106,@object         # @86
	.p2align	4, 0x0
.L__unnamed_106:
	.quad	.L.src
	.long	71                              # 0x47
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_106, 24

	.type	.L__unnamed_107,@object         # @87
	.p2align	3, 0x0
.L__unnamed_107:
	.quad	.L.src
	.long	72                              # 0x48
	.long	29                              # 0x1d
	.size	.L__unnamed_107, 16

	.type	.L__unnamed_108,@object         # @88
	.p2align	4, 0x0
.L__unnamed_108:
	.quad	.L.src
	.long	72                              # 0x48
	.long	29                              # 0x1d
	.quad	.L__unnamed_133
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_108, 32

	.type	.L__unnamed_109,@object         # @89
	.p2align	3, 0x0
.L__unnamed_109:
	.quad	.L.src
	.long	72                              # 0x48
	.long	38                              # 0x26
	.size	.L__unnamed_109, 16

	.type	.L__unnamed_110,@object         # @90
	.p2align	4, 0x0
.L__unnamed_110:
	.quad	.L.src
	.long	72                              # 0x48
	.long	38                              # 0x26
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_110, 32

	.type	.L__unnamed_111,@object         # @91
	.p2align	3, 0x0
.L__unnamed_111:
	.quad	.L.src
	.long	73                              # 0x49
	.long	16                              # 0x10
	.size	.L__unnamed_111, 16

	.type	.L__unnamed_112,@object         # @92
	.p2align	4, 0x0
.L__unnamed_112:
	.quad	.L.src
	.long	73                              # 0x49
	.long	16                              # 0x10
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_112, 32

	.type	.L__unnamed_113,@object         # @93
	.p2align	3, 0x0
.L__unnamed_113:
	.quad	.L.src
	.long	73                              # 0x49
	.long	5                               # 0x5
	.size	.L__unnamed_113, 16

	.type	.L__unnamed_114,@object         # @94
	.p2align	4, 0x0
.L__unnamed_114:
	.quad	.L.src
	.long	73                              # 0x49
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_114, 32

	.type	.L__unnamed_115,@object         # @95
	.p2align	3, 0x0
.L__unnamed_115:
	.quad	.L.src
	.long	74                              # 0x4a
	.long	16                              # 0x10
	.size	.L__unnamed_115, 16

	.type	.L__unnamed_116,@object         # @96
	.p2align	4, 0x0
.L__unnamed_116:
	.quad	.L.src
	.long	74                              # 0x4a
	.long	16                              # 0x10
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_116, 32

	.type	.L__unnamed_117,@object         # @97
	.p2align	3, 0x0
.L__unnamed_117:
	.quad	.L.src
	.long	74                              # 0x4a
	.long	5                               # 0x5
	.size	.L__unnamed_117, 16

	.type	.L__unnamed_118,@object         # @98
	.p2align	4, 0x0
.L__unnamed_118:
	.quad	.L.src
	.long	74                              # 0x4a
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_118, 32

	.type	.L__unnamed_119,@object         # @99
	.p2align	3, 0x0
.L__unnamed_119:
	.quad	.L.src
	.long	75                              # 0x4b
	.long	20                              # 0x14
	.size	.L__unnamed_119, 16

	.type	.L__unnamed_120,@object         # @100
	.p2align	4, 0x0
.L__unnamed_120:
	.quad	.L.src
	.long	75                              # 0x4b
	.long	20                              # 0x14
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_120, 32

	.type	.L__unnamed_121,@object         # @101
	.p2align	3, 0x0
.L__unnamed_121:
	.quad	.L.src
	.long	75                              # 0x4b
	.long	33                              # 0x21
	.size	.L__unnamed_121, 16

	.type	.L__unnamed_122,@object         # @102
	.p2align	4, 0x0
.L__unnamed_122:
	.quad	.L.src
	.long	75                              # 0x4b
	.long	33                              # 0x21
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_122, 32

	.type	.L__unnamed_123,@object         # @103
	.p2align	3, 0x0
.L__unnamed_123:
	.quad	.L.src
	.long	75                              # 0x4b
	.long	5                               # 0x5
	.size	.L__unnamed_123, 16

	.type	.L__unnamed_124,@object         # @104
	.p2align	4, 0x0
.L__unnamed_124:
	.quad	.L.src
	.long	75                              # 0x4b
	.long	5                               # 0x5
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_124, 32

	.type	.L__unnamed_125,@object         # @105
	.p2align	4, 0x0
.L__unnamed_125:
	.quad	.L.src
	.long	71                              # 0x47
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_125, 24

	.type	_ZL7workers,@object             # @_ZL7workers
	.section	.tdata,"awT",@progbits
	.p2align	2, 0x0
_ZL7workers:
	.long	1                               # 0x1
	.size	_ZL7workers, 4

	.type	.L.src.1,@object                # @.src.1
	.section	.rodata.str1.1,"aMS",@progbits,1
.L.src.1:
	.asciz	"/tmp/wt/families/boxpresso/device/kernel.h"
	.size	.L.src.1, 43

	.type	.L__unnamed_134,@object         # @106
	.section	.rodata.cst16,"aM",@progbits,16
	.p2align	3, 0x0
.L__unnamed_134:
	.short	0                               # 0x0
	.short	13                              # 0xd
	.asciz	"'long long'"
	.size	.L__unnamed_134, 16

	.type	.L__unnamed_10,@object          # @107
	.data
	.p2align	4, 0x0
.L__unnamed_10:
	.quad	.L.src.1
	.long	57                              # 0x39
	.long	62                              # 0x3e
	.quad	.L__unnamed_134
	.size	.L__unnamed_10, 24

	.type	.L__unnamed_11,@object          # @108
	.p2align	4, 0x0
.L__unnamed_11:
	.quad	.L.src.1
	.long	57                              # 0x39
	.long	67                              # 0x43
	.quad	.L__unnamed_134
	.size	.L__unnamed_11, 24

	.type	.L.src.2,@object                # @.src.2
	.section	.rodata.str1.1,"aMS",@progbits,1
.L.src.2:
	.asciz	"/tmp/wt/families/boxpresso/device/sum.h"
	.size	.L.src.2, 40

	.type	.L__unnamed_12,@object          # @109
	.data
	.p2align	4, 0x0
.L__unnamed_12:
	.quad	.L.src.2
	.long	11                              # 0xb
	.long	16                              # 0x10
	.quad	.L__unnamed_131
	.size	.L__unnamed_12, 24

	.type	.L__unnamed_13,@object          # @110
	.p2align	4, 0x0
.L__unnamed_13:
	.quad	.L.src.2
	.long	11                              # 0xb
	.long	49                              # 0x31
	.quad	.L__unnamed_131
	.size	.L__unnamed_13, 24

	.type	.L__unnamed_14,@object          # @111
	.p2align	3, 0x0
.L__unnamed_14:
	.quad	.L.src.2
	.long	12                              # 0xc
	.long	25                              # 0x19
	.size	.L__unnamed_14, 16

	.type	.L__unnamed_15,@object          # @112
	.p2align	4, 0x0
.L__unnamed_15:
	.quad	.L.src.2
	.long	12                              # 0xc
	.long	25                              # 0x19
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_15, 32

	.type	.L__unnamed_16,@object          # @113
	.p2align	4, 0x0
.L__unnamed_16:
	.quad	.L.src.2
	.long	12                              # 0xc
	.long	3                               # 0x3
	.quad	.L__unnamed_131
	.size	.L__unnamed_16, 24

	.type	.L__unnamed_17,@object          # @114
	.p2align	4, 0x0
.L__unnamed_17:
	.quad	.L.src.2
	.long	13                              # 0xd
	.long	42                              # 0x2a
	.quad	.L__unnamed_131
	.size	.L__unnamed_17, 24

	.type	.L__unnamed_18,@object          # @115
	.p2align	4, 0x0
.L__unnamed_18:
	.quad	.L.src.2
	.long	13                              # 0xd
	.long	106                             # 0x6a
	.quad	.L__unnamed_131
	.size	.L__unnamed_18, 24

	.type	.L__unnamed_19,@object          # @116
	.p2align	3, 0x0
.L__unnamed_19:
	.quad	.L.src.2
	.long	13                              # 0xd
	.long	80                              # 0x50
	.size	.L__unnamed_19, 16

	.type	.L__unnamed_20,@object          # @117
	.p2align	4, 0x0
.L__unnamed_20:
	.quad	.L.src.2
	.long	13                              # 0xd
	.long	80                              # 0x50
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_20, 32

	.type	.L__unnamed_21,@object          # @118
	.p2align	4, 0x0
.L__unnamed_21:
	.quad	.L.src.2
	.long	13                              # 0xd
	.long	42                              # 0x2a
	.quad	.L__unnamed_131
	.size	.L__unnamed_21, 24

	.type	.L__unnamed_22,@object          # @119
	.p2align	4, 0x0
.L__unnamed_22:
	.quad	.L.src.2
	.long	13                              # 0xd
	.long	32                              # 0x20
	.quad	.L__unnamed_131
	.size	.L__unnamed_22, 24

	.type	.L__unnamed_23,@object          # @120
	.p2align	4, 0x0
.L__unnamed_23:
	.quad	.L.src.2
	.long	15                              # 0xf
	.long	25                              # 0x19
	.quad	.L__unnamed_131
	.size	.L__unnamed_23, 24

	.type	.L__unnamed_24,@object          # @121
	.p2align	4, 0x0
.L__unnamed_24:
	.quad	.L.src.2
	.long	16                              # 0x10
	.long	44                              # 0x2c
	.quad	.L__unnamed_131
	.size	.L__unnamed_24, 24

	.type	.L__unnamed_25,@object          # @122
	.p2align	3, 0x0
.L__unnamed_25:
	.quad	.L.src.2
	.long	16                              # 0x10
	.long	37                              # 0x25
	.size	.L__unnamed_25, 16

	.type	.L__unnamed_26,@object          # @123
	.p2align	4, 0x0
.L__unnamed_26:
	.quad	.L.src.2
	.long	16                              # 0x10
	.long	37                              # 0x25
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_26, 32

	.type	.L__unnamed_27,@object          # @124
	.p2align	3, 0x0
.L__unnamed_27:
	.quad	.L.src.2
	.long	16                              # 0x10
	.long	26                              # 0x1a
	.size	.L__unnamed_27, 16

	.type	.L__unnamed_28,@object          # @125
	.p2align	4, 0x0
.L__unnamed_28:
	.quad	.L.src.2
	.long	16                              # 0x10
	.long	26                              # 0x1a
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	1                               # 0x1
	.zero	6
	.size	.L__unnamed_28, 32

	.type	.L__unnamed_29,@object          # @126
	.p2align	4, 0x0
.L__unnamed_29:
	.quad	.L.src.2
	.long	16                              # 0x10
	.long	5                               # 0x5
	.quad	.L__unnamed_131
	.size	.L__unnamed_29, 24

	.type	.L__unnamed_30,@object          # @127
	.p2align	4, 0x0
.L__unnamed_30:
	.quad	.L.src.2
	.long	15                              # 0xf
	.long	45                              # 0x2d
	.quad	.L__unnamed_131
	.size	.L__unnamed_30, 24

	.type	.L__unnamed_31,@object          # @128
	.p2align	4, 0x0
.L__unnamed_31:
	.quad	.L.src.2
	.long	19                              # 0x13
	.long	22                              # 0x16
	.quad	.L__unnamed_132
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_31, 32

	.type	.L__unnamed_135,@object         # @129
	.section	.rodata,"a",@progbits
	.p2align	4, 0x0
.L__unnamed_135:
	.short	65535                           # 0xffff
	.short	0                               # 0x0
	.asciz	"'const (lambda at /tmp/wt/families/boxpresso/train/solver.cu:16:71) *'"
	.zero	1
	.size	.L__unnamed_135, 76

	.type	.L__unnamed_126,@object         # @130
	.data
	.p2align	4, 0x0
.L__unnamed_126:
	.quad	.L.src
	.long	16                              # 0x10
	.long	71                              # 0x47
	.quad	.L__unnamed_135
	.byte	3                               # 0x3
	.byte	4                               # 0x4
	.zero	6
	.size	.L__unnamed_126, 32

	.type	.L__unnamed_127,@object         # @131
	.p2align	3, 0x0
.L__unnamed_127:
	.quad	.L.src
	.long	16                              # 0x10
	.long	98                              # 0x62
	.size	.L__unnamed_127, 16

	.type	.L__unnamed_128,@object         # @132
	.p2align	4, 0x0
.L__unnamed_128:
	.quad	.L.src
	.long	16                              # 0x10
	.long	98                              # 0x62
	.quad	.L__unnamed_133
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_128, 32

	.type	.L__unnamed_129,@object         # @133
	.p2align	3, 0x0
.L__unnamed_129:
	.quad	.L.src
	.long	16                              # 0x10
	.long	109                             # 0x6d
	.size	.L__unnamed_129, 16

	.type	.L__unnamed_130,@object         # @134
	.p2align	4, 0x0
.L__unnamed_130:
	.quad	.L.src
	.long	16                              # 0x10
	.long	109                             # 0x6d
	.quad	.L__unnamed_133
	.byte	3                               # 0x3
	.byte	0                               # 0x0
	.zero	6
	.size	.L__unnamed_130, 32

	.file	5 "/usr/include/x86_64-linux-gnu/bits" "types.h"
	.file	6 "/usr/include/x86_64-linux-gnu/bits" "stdint-intn.h"
	.file	7 "/tmp/wt" "zigvenv/lib/python3.11/site-packages/ziglang/lib/libcxx/include/cstdint"
	.file	8 "/usr/include/x86_64-linux-gnu/bits" "stdint-uintn.h"
	.file	9 "/usr/include" "stdint.h"
	.file	10 "/tmp/wt" "zigvenv/lib/python3.11/site-packages/ziglang/lib/libcxx/include/__math/traits.h"
	.file	11 "/tmp/wt" "zigvenv/lib/python3.11/site-packages/ziglang/lib/libcxx/include/math.h"
	.file	12 "/tmp/wt" "zigvenv/lib/python3.11/site-packages/ziglang/lib/libcxx/include/__math/modulo.h"
	.file	13 "/tmp/wt" "zigvenv/lib/python3.11/site-packages/ziglang/lib/libcxx/include/cmath"
	.file	14 "/usr/include" "math.h"
	.file	15 "/usr/include/x86_64-linux-gnu/bits" "mathcalls.h"
	.section	.debug_abbrev,"",@progbits
	.byte	1                               # Abbreviation Code
	.byte	17                              # DW_TAG_compile_unit
	.byte	1                               # DW_CHILDREN_yes
	.byte	37                              # DW_AT_producer
	.byte	14                              # DW_FORM_strp
	.byte	19                              # DW_AT_language
	.byte	5                               # DW_FORM_data2
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	16                              # DW_AT_stmt_list
	.byte	23                              # DW_FORM_sec_offset
	.byte	27                              # DW_AT_comp_dir
	.byte	14                              # DW_FORM_strp
	.byte	17                              # DW_AT_low_pc
	.byte	1                               # DW_FORM_addr
	.byte	18                              # DW_AT_high_pc
	.byte	6                               # DW_FORM_data4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	2                               # Abbreviation Code
	.byte	52                              # DW_TAG_variable
	.byte	0                               # DW_CHILDREN_no
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	2                               # DW_AT_location
	.byte	24                              # DW_FORM_exprloc
	.byte	110                             # DW_AT_linkage_name
	.byte	14                              # DW_FORM_strp
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	3                               # Abbreviation Code
	.byte	36                              # DW_TAG_base_type
	.byte	0                               # DW_CHILDREN_no
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	62                              # DW_AT_encoding
	.byte	11                              # DW_FORM_data1
	.byte	11                              # DW_AT_byte_size
	.byte	11                              # DW_FORM_data1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	4                               # Abbreviation Code
	.byte	52                              # DW_TAG_variable
	.byte	0                               # DW_CHILDREN_no
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	28                              # DW_AT_const_value
	.byte	15                              # DW_FORM_udata
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	5                               # Abbreviation Code
	.byte	38                              # DW_TAG_const_type
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	6                               # Abbreviation Code
	.byte	46                              # DW_TAG_subprogram
	.byte	1                               # DW_CHILDREN_yes
	.byte	17                              # DW_AT_low_pc
	.byte	1                               # DW_FORM_addr
	.byte	18                              # DW_AT_high_pc
	.byte	6                               # DW_FORM_data4
	.byte	64                              # DW_AT_frame_base
	.byte	24                              # DW_FORM_exprloc
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	63                              # DW_AT_external
	.byte	25                              # DW_FORM_flag_present
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	7                               # Abbreviation Code
	.byte	5                               # DW_TAG_formal_parameter
	.byte	0                               # DW_CHILDREN_no
	.byte	2                               # DW_AT_location
	.byte	24                              # DW_FORM_exprloc
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	8                               # Abbreviation Code
	.byte	11                              # DW_TAG_lexical_block
	.byte	1                               # DW_CHILDREN_yes
	.byte	17                              # DW_AT_low_pc
	.byte	1                               # DW_FORM_addr
	.byte	18                              # DW_AT_high_pc
	.byte	6                               # DW_FORM_data4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	9                               # Abbreviation Code
	.byte	52                              # DW_TAG_variable
	.byte	0                               # DW_CHILDREN_no
	.byte	2                               # DW_AT_location
	.byte	24                              # DW_FORM_exprloc
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	10                              # Abbreviation Code
	.byte	2                               # DW_TAG_class_type
	.byte	1                               # DW_CHILDREN_yes
	.byte	54                              # DW_AT_calling_convention
	.byte	11                              # DW_FORM_data1
	.byte	11                              # DW_AT_byte_size
	.byte	11                              # DW_FORM_data1
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	11                              # Abbreviation Code
	.byte	13                              # DW_TAG_member
	.byte	0                               # DW_CHILDREN_no
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	56                              # DW_AT_data_member_location
	.byte	11                              # DW_FORM_data1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	12                              # Abbreviation Code
	.byte	46                              # DW_TAG_subprogram
	.byte	1                               # DW_CHILDREN_yes
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	60                              # DW_AT_declaration
	.byte	25                              # DW_FORM_flag_present
	.byte	50                              # DW_AT_accessibility
	.byte	11                              # DW_FORM_data1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	13                              # Abbreviation Code
	.byte	5                               # DW_TAG_formal_parameter
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	52                              # DW_AT_artificial
	.byte	25                              # DW_FORM_flag_present
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	14                              # Abbreviation Code
	.byte	5                               # DW_TAG_formal_parameter
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	15                              # Abbreviation Code
	.byte	46                              # DW_TAG_subprogram
	.byte	1                               # DW_CHILDREN_yes
	.byte	17                              # DW_AT_low_pc
	.byte	1                               # DW_FORM_addr
	.byte	18                              # DW_AT_high_pc
	.byte	6                               # DW_FORM_data4
	.byte	64                              # DW_AT_frame_base
	.byte	24                              # DW_FORM_exprloc
	.byte	110                             # DW_AT_linkage_name
	.byte	14                              # DW_FORM_strp
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	16                              # Abbreviation Code
	.byte	47                              # DW_TAG_template_type_parameter
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	17                              # Abbreviation Code
	.byte	16                              # DW_TAG_reference_type
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	18                              # Abbreviation Code
	.byte	15                              # DW_TAG_pointer_type
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	19                              # Abbreviation Code
	.byte	46                              # DW_TAG_subprogram
	.byte	1                               # DW_CHILDREN_yes
	.byte	17                              # DW_AT_low_pc
	.byte	1                               # DW_FORM_addr
	.byte	18                              # DW_AT_high_pc
	.byte	6                               # DW_FORM_data4
	.byte	64                              # DW_AT_frame_base
	.byte	24                              # DW_FORM_exprloc
	.byte	100                             # DW_AT_object_pointer
	.byte	19                              # DW_FORM_ref4
	.byte	110                             # DW_AT_linkage_name
	.byte	14                              # DW_FORM_strp
	.byte	71                              # DW_AT_specification
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	20                              # Abbreviation Code
	.byte	5                               # DW_TAG_formal_parameter
	.byte	0                               # DW_CHILDREN_no
	.byte	2                               # DW_AT_location
	.byte	24                              # DW_FORM_exprloc
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	52                              # DW_AT_artificial
	.byte	25                              # DW_FORM_flag_present
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	21                              # Abbreviation Code
	.byte	57                              # DW_TAG_namespace
	.byte	1                               # DW_CHILDREN_yes
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	22                              # Abbreviation Code
	.byte	57                              # DW_TAG_namespace
	.byte	1                               # DW_CHILDREN_yes
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.ascii	"\211\001"                      # DW_AT_export_symbols
	.byte	25                              # DW_FORM_flag_present
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	23                              # Abbreviation Code
	.byte	8                               # DW_TAG_imported_declaration
	.byte	0                               # DW_CHILDREN_no
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	24                              # DW_AT_import
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	24                              # Abbreviation Code
	.byte	46                              # DW_TAG_subprogram
	.byte	1                               # DW_CHILDREN_yes
	.byte	110                             # DW_AT_linkage_name
	.byte	14                              # DW_FORM_strp
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	60                              # DW_AT_declaration
	.byte	25                              # DW_FORM_flag_present
	.byte	63                              # DW_AT_external
	.byte	25                              # DW_FORM_flag_present
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	25                              # Abbreviation Code
	.byte	8                               # DW_TAG_imported_declaration
	.byte	0                               # DW_CHILDREN_no
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	5                               # DW_FORM_data2
	.byte	24                              # DW_AT_import
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	26                              # Abbreviation Code
	.byte	22                              # DW_TAG_typedef
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	27                              # Abbreviation Code
	.byte	46                              # DW_TAG_subprogram
	.byte	1                               # DW_CHILDREN_yes
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	60                              # DW_AT_declaration
	.byte	25                              # DW_FORM_flag_present
	.byte	63                              # DW_AT_external
	.byte	25                              # DW_FORM_flag_present
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	28                              # Abbreviation Code
	.byte	46                              # DW_TAG_subprogram
	.byte	1                               # DW_CHILDREN_yes
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	5                               # DW_FORM_data2
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	60                              # DW_AT_declaration
	.byte	25                              # DW_FORM_flag_present
	.byte	63                              # DW_AT_external
	.byte	25                              # DW_FORM_flag_present
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	29                              # Abbreviation Code
	.byte	1                               # DW_TAG_array_type
	.byte	1                               # DW_CHILDREN_yes
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	30                              # Abbreviation Code
	.byte	33                              # DW_TAG_subrange_type
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	55                              # DW_AT_count
	.byte	5                               # DW_FORM_data2
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	31                              # Abbreviation Code
	.byte	36                              # DW_TAG_base_type
	.byte	0                               # DW_CHILDREN_no
	.byte	3                               # DW_AT_name
	.byte	14                              # DW_FORM_strp
	.byte	11                              # DW_AT_byte_size
	.byte	11                              # DW_FORM_data1
	.byte	62                              # DW_AT_encoding
	.byte	11                              # DW_FORM_data1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	0                               # EOM(3)
	.section	.debug_info,"",@progbits
.Lcu_begin0:
	.long	.Ldebug_info_end0-.Ldebug_info_start0 # Length of Unit
.Ldebug_info_start0:
	.short	4                               # DWARF version number
	.long	.debug_abbrev                   # Offset Into Abbrev. Section
	.byte	8                               # Address Size (in bytes)
	.byte	1                               # Abbrev [1] 0xb:0x1e35 DW_TAG_compile_unit
	.long	.Linfo_string0                  # DW_AT_producer
	.short	33                              # DW_AT_language
	.long	.Linfo_string1                  # DW_AT_name
	.long	.Lline_table_start0             # DW_AT_stmt_list
	.long	.Linfo_string2                  # DW_AT_comp_dir
	.quad	.Lfunc_begin0                   # DW_AT_low_pc
	.long	.Lfunc_end18-.Lfunc_begin0      # DW_AT_high_pc
	.byte	2                               # Abbrev [2] 0x2a:0x1a DW_TAG_variable
	.long	.Linfo_string3                  # DW_AT_name
	.long	68                              # DW_AT_type
	.byte	1                               # DW_AT_decl_file
	.byte	56                              # DW_AT_decl_line
	.byte	10                              # DW_AT_location
	.byte	14
	.quad	_ZL6worker@DTPOFF
	.byte	224
	.long	.Linfo_string5                  # DW_AT_linkage_name
	.byte	3                               # Abbrev [3] 0x44:0x7 DW_TAG_base_type
	.long	.Linfo_string4                  # DW_AT_name
	.byte	5                               # DW_AT_encoding
	.byte	4                               # DW_AT_byte_size
	.byte	2                               # Abbrev [2] 0x4b:0x1a DW_TAG_variable
	.long	.Linfo_string6                  # DW_AT_name
	.long	68                              # DW_AT_type
	.byte	1                               # DW_AT_decl_file
	.byte	56                              # DW_AT_decl_line
	.byte	10                              # DW_AT_location
	.byte	14
	.quad	_ZL7workers@DTPOFF
	.byte	224
	.long	.Linfo_string7                  # DW_AT_linkage_name
	.byte	4                               # Abbrev [4] 0x65:0xd DW_TAG_variable
	.long	.Linfo_string8                  # DW_AT_name
	.long	114                             # DW_AT_type
	.byte	2                               # DW_AT_decl_file
	.byte	5                               # DW_AT_decl_line
	.ascii	"\200\002"                      # DW_AT_const_value
	.byte	5                               # Abbrev [5] 0x72:0x5 DW_TAG_const_type
	.long	68                              # DW_AT_type
	.byte	3                               # Abbrev [3] 0x77:0x7 DW_TAG_base_type
	.long	.Linfo_string9                  # DW_AT_name
	.byte	5                               # DW_AT_encoding
	.byte	8                               # DW_AT_byte_size
	.byte	3                               # Abbrev [3] 0x7e:0x7 DW_TAG_base_type
	.long	.Linfo_string10                 # DW_AT_name
	.byte	4                               # DW_AT_encoding
	.byte	8                               # DW_AT_byte_size
	.byte	6                               # Abbrev [6] 0x85:0x10e DW_TAG_subprogram
	.quad	.Lfunc_begin0                   # DW_AT_low_pc
	.long	.Lfunc_end0-.Lfunc_begin0       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string200                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	12                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0x9a:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\344o"
	.long	.Linfo_string225                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	12                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xa9:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\330o"
	.long	.Linfo_string226                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	12                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xb8:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\320o"
	.long	.Linfo_string227                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	12                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xc7:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\314o"
	.long	.Linfo_string228                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	12                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xd6:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\310o"
	.long	.Linfo_string229                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	12                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	8                               # Abbrev [8] 0xe5:0x84 DW_TAG_lexical_block
	.quad	.Ltmp0                          # DW_AT_low_pc
	.long	.Ltmp10-.Ltmp0                  # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0xf2:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\304o"
	.long	.Linfo_string230                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	13                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	9                               # Abbrev [9] 0x101:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\300o"
	.long	.Linfo_string231                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	13                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	8                               # Abbrev [8] 0x110:0x58 DW_TAG_lexical_block
	.quad	.Ltmp3                          # DW_AT_low_pc
	.long	.Ltmp9-.Ltmp3                   # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x11d:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\360o"
	.long	.Linfo_string232                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	7718                            # DW_AT_type
	.byte	9                               # Abbrev [9] 0x12c:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\350o"
	.long	.Linfo_string11                 # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	15                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	9                               # Abbrev [9] 0x13b:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270o"
	.long	.Linfo_string234                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	16                              # DW_AT_decl_line
	.long	3481                            # DW_AT_type
	.byte	8                               # Abbrev [8] 0x14a:0x1d DW_TAG_lexical_block
	.quad	.Ltmp4                          # DW_AT_low_pc
	.long	.Ltmp8-.Ltmp4                   # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x157:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\254o"
	.long	.Linfo_string235                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	17                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	10                              # Abbrev [10] 0x169:0x29 DW_TAG_class_type
	.byte	5                               # DW_AT_calling_convention
	.byte	8                               # DW_AT_byte_size
	.byte	3                               # DW_AT_decl_file
	.byte	16                              # DW_AT_decl_line
	.byte	11                              # Abbrev [11] 0x16e:0xc DW_TAG_member
	.long	.Linfo_string11                 # DW_AT_name
	.long	3471                            # DW_AT_type
	.byte	3                               # DW_AT_decl_file
	.byte	16                              # DW_AT_decl_line
	.byte	0                               # DW_AT_data_member_location
	.byte	12                              # Abbrev [12] 0x17a:0x17 DW_TAG_subprogram
	.long	.Linfo_string12                 # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	16                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
                                        # DW_AT_declaration
	.byte	1                               # DW_AT_accessibility
                                        # DW_ACCESS_public
	.byte	13                              # Abbrev [13] 0x186:0x5 DW_TAG_formal_parameter
	.long	3486                            # DW_AT_type
                                        # DW_AT_artificial
	.byte	14                              # Abbrev [14] 0x18b:0x5 DW_TAG_formal_parameter
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	15                              # Abbrev [15] 0x193:0x3a DW_TAG_subprogram
	.quad	.Lfunc_begin1                   # DW_AT_low_pc
	.long	.Lfunc_end1-.Lfunc_begin1       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string201                # DW_AT_linkage_name
	.long	.Linfo_string202                # DW_AT_name
	.byte	1                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x1b0:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string225                # DW_AT_name
	.byte	1                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x1be:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string236                # DW_AT_name
	.byte	1                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	15                              # Abbrev [15] 0x1cd:0xf9 DW_TAG_subprogram
	.quad	.Lfunc_begin2                   # DW_AT_low_pc
	.long	.Lfunc_end2-.Lfunc_begin2       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string204                # DW_AT_linkage_name
	.long	.Linfo_string205                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	9                               # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x1ea:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string232                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	9                               # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x1f8:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	100
	.long	.Linfo_string228                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	9                               # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x206:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string237                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	9                               # DW_AT_decl_line
	.long	361                             # DW_AT_type
	.byte	9                               # Abbrev [9] 0x214:0xe DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string238                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	10                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	9                               # Abbrev [9] 0x222:0xe DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string234                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	19                              # DW_AT_decl_line
	.long	3481                            # DW_AT_type
	.byte	8                               # Abbrev [8] 0x230:0x1c DW_TAG_lexical_block
	.quad	.Ltmp15                         # DW_AT_low_pc
	.long	.Ltmp19-.Ltmp15                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x23d:0xe DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	92
	.long	.Linfo_string235                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	12                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	8                               # Abbrev [8] 0x24c:0x38 DW_TAG_lexical_block
	.quad	.Ltmp19                         # DW_AT_low_pc
	.long	.Ltmp28-.Ltmp19                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x259:0xe DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string239                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	13                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	8                               # Abbrev [8] 0x267:0x1c DW_TAG_lexical_block
	.quad	.Ltmp22                         # DW_AT_low_pc
	.long	.Ltmp27-.Ltmp22                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x274:0xe DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	84
	.long	.Linfo_string235                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	13                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	8                               # Abbrev [8] 0x284:0x38 DW_TAG_lexical_block
	.quad	.Ltmp28                         # DW_AT_low_pc
	.long	.Ltmp37-.Ltmp28                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x291:0xe DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string240                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	15                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	8                               # Abbrev [8] 0x29f:0x1c DW_TAG_lexical_block
	.quad	.Ltmp31                         # DW_AT_low_pc
	.long	.Ltmp35-.Ltmp31                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x2ac:0xe DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	76
	.long	.Linfo_string235                # DW_AT_name
	.byte	2                               # DW_AT_decl_file
	.byte	16                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	16                              # Abbrev [16] 0x2bc:0x9 DW_TAG_template_type_parameter
	.long	361                             # DW_AT_type
	.long	.Linfo_string203                # DW_AT_name
	.byte	0                               # End Of Children Mark
	.byte	15                              # Abbrev [15] 0x2c6:0x43 DW_TAG_subprogram
	.quad	.Lfunc_begin3                   # DW_AT_low_pc
	.long	.Lfunc_end3-.Lfunc_begin3       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string207                # DW_AT_linkage_name
	.long	.Linfo_string208                # DW_AT_name
	.byte	1                               # DW_AT_decl_file
	.byte	53                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x2e3:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string241                # DW_AT_name
	.byte	1                               # DW_AT_decl_file
	.byte	53                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x2f1:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string230                # DW_AT_name
	.byte	1                               # DW_AT_decl_file
	.byte	53                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	16                              # Abbrev [16] 0x2ff:0x9 DW_TAG_template_type_parameter
	.long	68                              # DW_AT_type
	.long	.Linfo_string206                # DW_AT_name
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0x309:0xc1 DW_TAG_subprogram
	.quad	.Lfunc_begin4                   # DW_AT_low_pc
	.long	.Lfunc_end4-.Lfunc_begin4       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string209                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	22                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0x31e:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string225                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	22                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x32c:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	22                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x33a:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	22                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x348:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string244                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	22                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x356:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string245                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	22                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x364:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string246                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	22                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x372:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	76
	.long	.Linfo_string247                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	22                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x380:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string248                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	22                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x38e:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string249                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	22                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	8                               # Abbrev [8] 0x39d:0x2c DW_TAG_lexical_block
	.quad	.Ltmp41                         # DW_AT_low_pc
	.long	.Ltmp46-.Ltmp41                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x3aa:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\264\177"
	.long	.Linfo_string239                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	9                               # Abbrev [9] 0x3b9:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\260\177"
	.long	.Linfo_string250                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	15                              # Abbrev [15] 0x3ca:0x72 DW_TAG_subprogram
	.quad	.Lfunc_begin5                   # DW_AT_low_pc
	.long	.Lfunc_end5-.Lfunc_begin5       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string210                # DW_AT_linkage_name
	.long	.Linfo_string211                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	6                               # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x3e7:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string243                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	6                               # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x3f5:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	6                               # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x403:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string245                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	6                               # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x411:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string246                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	6                               # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x41f:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	92
	.long	.Linfo_string247                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	6                               # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	9                               # Abbrev [9] 0x42d:0xe DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string251                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	7                               # DW_AT_decl_line
	.long	3481                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0x43c:0xde DW_TAG_subprogram
	.quad	.Lfunc_begin6                   # DW_AT_low_pc
	.long	.Lfunc_end6-.Lfunc_begin6       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string212                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0x451:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string225                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x45f:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x46d:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x47b:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string244                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x489:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string245                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x497:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string246                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x4a5:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	76
	.long	.Linfo_string247                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x4b3:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string248                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x4c1:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string249                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	8                               # Abbrev [8] 0x4d0:0x49 DW_TAG_lexical_block
	.quad	.Ltmp50                         # DW_AT_low_pc
	.long	.Ltmp55-.Ltmp50                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x4dd:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\264\177"
	.long	.Linfo_string239                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	31                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	9                               # Abbrev [9] 0x4ec:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\260\177"
	.long	.Linfo_string250                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	31                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	8                               # Abbrev [8] 0x4fb:0x1d DW_TAG_lexical_block
	.quad	.Ltmp53                         # DW_AT_low_pc
	.long	.Ltmp54-.Ltmp53                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x508:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\250\177"
	.long	.Linfo_string252                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	3481                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0x51a:0xde DW_TAG_subprogram
	.quad	.Lfunc_begin7                   # DW_AT_low_pc
	.long	.Lfunc_end7-.Lfunc_begin7       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string213                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0x52f:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string225                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x53d:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x54b:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x559:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string244                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x567:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string245                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x575:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string246                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x583:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	76
	.long	.Linfo_string247                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x591:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string248                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x59f:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string253                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	8                               # Abbrev [8] 0x5ae:0x49 DW_TAG_lexical_block
	.quad	.Ltmp57                         # DW_AT_low_pc
	.long	.Ltmp62-.Ltmp57                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x5bb:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\264\177"
	.long	.Linfo_string239                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	40                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	9                               # Abbrev [9] 0x5ca:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\260\177"
	.long	.Linfo_string250                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	40                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	8                               # Abbrev [8] 0x5d9:0x1d DW_TAG_lexical_block
	.quad	.Ltmp60                         # DW_AT_low_pc
	.long	.Ltmp61-.Ltmp60                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x5e6:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\250\177"
	.long	.Linfo_string254                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	3481                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0x5f8:0xed DW_TAG_subprogram
	.quad	.Lfunc_begin8                   # DW_AT_low_pc
	.long	.Lfunc_end8-.Lfunc_begin8       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string214                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0x60d:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string225                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x61b:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x629:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x637:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string244                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x645:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string245                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x653:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string246                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x661:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	76
	.long	.Linfo_string247                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x66f:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string248                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x67d:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string253                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x68c:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\260\177"
	.long	.Linfo_string255                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	48                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	8                               # Abbrev [8] 0x69b:0x49 DW_TAG_lexical_block
	.quad	.Ltmp64                         # DW_AT_low_pc
	.long	.Ltmp69-.Ltmp64                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x6a8:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\254\177"
	.long	.Linfo_string239                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	49                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	9                               # Abbrev [9] 0x6b7:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\250\177"
	.long	.Linfo_string250                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	49                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	8                               # Abbrev [8] 0x6c6:0x1d DW_TAG_lexical_block
	.quad	.Ltmp67                         # DW_AT_low_pc
	.long	.Ltmp68-.Ltmp67                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x6d3:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\240\177"
	.long	.Linfo_string254                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	3481                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0x6e5:0x10b DW_TAG_subprogram
	.quad	.Lfunc_begin9                   # DW_AT_low_pc
	.long	.Lfunc_end9-.Lfunc_begin9       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string215                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0x6fa:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string225                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x708:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x716:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x724:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string244                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x732:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string256                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x740:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string245                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x74e:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	72
	.long	.Linfo_string246                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x75c:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	68
	.long	.Linfo_string247                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x76a:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string248                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x779:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\260\177"
	.long	.Linfo_string253                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x788:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\250\177"
	.long	.Linfo_string255                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	58                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	8                               # Abbrev [8] 0x797:0x58 DW_TAG_lexical_block
	.quad	.Ltmp71                         # DW_AT_low_pc
	.long	.Ltmp76-.Ltmp71                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x7a4:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\244\177"
	.long	.Linfo_string239                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	9                               # Abbrev [9] 0x7b3:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\240\177"
	.long	.Linfo_string250                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	8                               # Abbrev [8] 0x7c2:0x2c DW_TAG_lexical_block
	.quad	.Ltmp74                         # DW_AT_low_pc
	.long	.Ltmp75-.Ltmp74                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x7cf:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\230\177"
	.long	.Linfo_string254                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	60                              # DW_AT_decl_line
	.long	3481                            # DW_AT_type
	.byte	9                               # Abbrev [9] 0x7de:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\220\177"
	.long	.Linfo_string257                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	62                              # DW_AT_decl_line
	.long	3481                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0x7f0:0x10b DW_TAG_subprogram
	.quad	.Lfunc_begin10                  # DW_AT_low_pc
	.long	.Lfunc_end10-.Lfunc_begin10     # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string216                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0x805:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string225                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x813:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x821:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x82f:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string258                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x83d:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string259                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x84b:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string245                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x859:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	72
	.long	.Linfo_string246                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x867:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	68
	.long	.Linfo_string247                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x875:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string248                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x884:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\260\177"
	.long	.Linfo_string253                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x893:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\250\177"
	.long	.Linfo_string241                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	69                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x8a2:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\240\177"
	.long	.Linfo_string230                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	70                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	8                               # Abbrev [8] 0x8b1:0x49 DW_TAG_lexical_block
	.quad	.Ltmp78                         # DW_AT_low_pc
	.long	.Ltmp83-.Ltmp78                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x8be:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\234\177"
	.long	.Linfo_string239                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	71                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	9                               # Abbrev [9] 0x8cd:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\230\177"
	.long	.Linfo_string250                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	71                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	8                               # Abbrev [8] 0x8dc:0x1d DW_TAG_lexical_block
	.quad	.Ltmp81                         # DW_AT_low_pc
	.long	.Ltmp82-.Ltmp81                 # DW_AT_high_pc
	.byte	9                               # Abbrev [9] 0x8e9:0xf DW_TAG_variable
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\220\177"
	.long	.Linfo_string254                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	72                              # DW_AT_decl_line
	.long	3481                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0x8fb:0x6a DW_TAG_subprogram
	.quad	.Lfunc_begin11                  # DW_AT_low_pc
	.long	.Lfunc_end11-.Lfunc_begin11     # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string217                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	5                               # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0x910:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string260                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	5                               # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x91e:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string225                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	5                               # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x92c:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string226                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	5                               # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x93a:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string227                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	5                               # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x948:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	100
	.long	.Linfo_string228                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	5                               # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x956:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string229                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	5                               # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0x965:0xa3 DW_TAG_subprogram
	.quad	.Lfunc_begin12                  # DW_AT_low_pc
	.long	.Lfunc_end12-.Lfunc_begin12     # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string218                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0x97a:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string260                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x988:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string225                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x996:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x9a4:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x9b2:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string244                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0x9c0:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string245                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x9ce:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string246                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x9dc:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	76
	.long	.Linfo_string247                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0x9ea:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string248                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0x9f8:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string249                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	14                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0xa08:0xa3 DW_TAG_subprogram
	.quad	.Lfunc_begin13                  # DW_AT_low_pc
	.long	.Lfunc_end13-.Lfunc_begin13     # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string219                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0xa1d:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string260                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xa2b:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string225                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xa39:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xa47:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xa55:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string244                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xa63:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string245                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xa71:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string246                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xa7f:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	76
	.long	.Linfo_string247                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xa8d:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string248                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xa9b:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string249                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0xaab:0xa3 DW_TAG_subprogram
	.quad	.Lfunc_begin14                  # DW_AT_low_pc
	.long	.Lfunc_end14-.Lfunc_begin14     # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string220                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0xac0:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string260                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xace:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string225                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xadc:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xaea:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xaf8:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string244                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xb06:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string245                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xb14:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string246                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xb22:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	76
	.long	.Linfo_string247                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xb30:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string248                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xb3e:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string253                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0xb4e:0xb2 DW_TAG_subprogram
	.quad	.Lfunc_begin15                  # DW_AT_low_pc
	.long	.Lfunc_end15-.Lfunc_begin15     # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string221                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0xb63:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string260                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xb71:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string225                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xb7f:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xb8d:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xb9b:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string244                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xba9:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string245                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xbb7:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string246                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xbc5:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	76
	.long	.Linfo_string247                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xbd3:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string248                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xbe1:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string253                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xbf0:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\260\177"
	.long	.Linfo_string255                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0xc00:0xc0 DW_TAG_subprogram
	.quad	.Lfunc_begin16                  # DW_AT_low_pc
	.long	.Lfunc_end16-.Lfunc_begin16     # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string222                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0xc15:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string260                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xc23:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string225                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xc31:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xc3f:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xc4d:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string244                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xc5b:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string256                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xc69:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string245                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xc77:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	72
	.long	.Linfo_string246                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xc85:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	16
	.long	.Linfo_string247                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xc93:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string248                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xca1:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string253                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xcb0:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\260\177"
	.long	.Linfo_string255                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0xcc0:0xcf DW_TAG_subprogram
	.quad	.Lfunc_begin17                  # DW_AT_low_pc
	.long	.Lfunc_end17-.Lfunc_begin17     # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	.Linfo_string223                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
                                        # DW_AT_external
	.byte	7                               # Abbrev [7] 0xcd5:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	.Linfo_string260                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xce3:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string225                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xcf1:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.long	.Linfo_string242                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xcff:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.long	.Linfo_string243                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	3476                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xd0d:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	96
	.long	.Linfo_string258                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xd1b:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	88
	.long	.Linfo_string259                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	7713                            # DW_AT_type
	.byte	7                               # Abbrev [7] 0xd29:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	80
	.long	.Linfo_string245                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xd37:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	72
	.long	.Linfo_string246                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xd45:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	16
	.long	.Linfo_string247                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	7                               # Abbrev [7] 0xd53:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	64
	.long	.Linfo_string248                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xd61:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\270\177"
	.long	.Linfo_string253                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xd70:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\260\177"
	.long	.Linfo_string241                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	7                               # Abbrev [7] 0xd7f:0xf DW_TAG_formal_parameter
	.byte	3                               # DW_AT_location
	.byte	145
	.ascii	"\250\177"
	.long	.Linfo_string230                # DW_AT_name
	.byte	4                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	126                             # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	17                              # Abbrev [17] 0xd8f:0x5 DW_TAG_reference_type
	.long	3476                            # DW_AT_type
	.byte	18                              # Abbrev [18] 0xd94:0x5 DW_TAG_pointer_type
	.long	3481                            # DW_AT_type
	.byte	5                               # Abbrev [5] 0xd99:0x5 DW_TAG_const_type
	.long	126                             # DW_AT_type
	.byte	18                              # Abbrev [18] 0xd9e:0x5 DW_TAG_pointer_type
	.long	3491                            # DW_AT_type
	.byte	5                               # Abbrev [5] 0xda3:0x5 DW_TAG_const_type
	.long	361                             # DW_AT_type
	.byte	19                              # Abbrev [19] 0xda8:0x36 DW_TAG_subprogram
	.quad	.Lfunc_begin18                  # DW_AT_low_pc
	.long	.Lfunc_end18-.Lfunc_begin18     # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.long	3523                            # DW_AT_object_pointer
	.long	.Linfo_string224                # DW_AT_linkage_name
	.long	378                             # DW_AT_specification
	.byte	20                              # Abbrev [20] 0xdc3:0xc DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.long	.Linfo_string261                # DW_AT_name
	.long	7738                            # DW_AT_type
                                        # DW_AT_artificial
	.byte	7                               # Abbrev [7] 0xdcf:0xe DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	116
	.long	.Linfo_string239                # DW_AT_name
	.byte	3                               # DW_AT_decl_file
	.byte	16                              # DW_AT_decl_line
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	21                              # Abbrev [21] 0xdde:0x514 DW_TAG_namespace
	.long	.Linfo_string13                 # DW_AT_name
	.byte	22                              # Abbrev [22] 0xde3:0x50e DW_TAG_namespace
	.long	.Linfo_string14                 # DW_AT_name
                                        # DW_AT_export_symbols
	.byte	23                              # Abbrev [23] 0xde8:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	158                             # DW_AT_decl_line
	.long	4850                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xdef:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	159                             # DW_AT_decl_line
	.long	4879                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xdf6:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	160                             # DW_AT_decl_line
	.long	4908                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xdfd:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	161                             # DW_AT_decl_line
	.long	4930                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe04:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	163                             # DW_AT_decl_line
	.long	4959                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe0b:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	164                             # DW_AT_decl_line
	.long	4988                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe12:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	165                             # DW_AT_decl_line
	.long	5017                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe19:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	166                             # DW_AT_decl_line
	.long	5046                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe20:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	168                             # DW_AT_decl_line
	.long	5075                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe27:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	169                             # DW_AT_decl_line
	.long	5097                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe2e:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	170                             # DW_AT_decl_line
	.long	5119                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe35:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	171                             # DW_AT_decl_line
	.long	5141                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe3c:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	173                             # DW_AT_decl_line
	.long	5163                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe43:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	174                             # DW_AT_decl_line
	.long	5185                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe4a:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	175                             # DW_AT_decl_line
	.long	5207                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe51:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	176                             # DW_AT_decl_line
	.long	5229                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe58:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	178                             # DW_AT_decl_line
	.long	5251                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe5f:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	179                             # DW_AT_decl_line
	.long	5262                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe66:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	180                             # DW_AT_decl_line
	.long	5273                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe6d:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	181                             # DW_AT_decl_line
	.long	5284                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe74:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	183                             # DW_AT_decl_line
	.long	5295                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe7b:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	184                             # DW_AT_decl_line
	.long	5306                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe82:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	185                             # DW_AT_decl_line
	.long	5317                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe89:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	186                             # DW_AT_decl_line
	.long	5328                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe90:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	188                             # DW_AT_decl_line
	.long	5339                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe97:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	189                             # DW_AT_decl_line
	.long	5350                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xe9e:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	191                             # DW_AT_decl_line
	.long	5361                            # DW_AT_import
	.byte	23                              # Abbrev [23] 0xea5:0x7 DW_TAG_imported_declaration
	.byte	7                               # DW_AT_decl_file
	.byte	192                             # DW_AT_decl_line
	.long	5383                            # DW_AT_import
	.byte	21                              # Abbrev [21] 0xeac:0x74 DW_TAG_namespace
	.long	.Linfo_string68                 # DW_AT_name
	.byte	24                              # Abbrev [24] 0xeb1:0x15 DW_TAG_subprogram
	.long	.Linfo_string69                 # DW_AT_linkage_name
	.long	.Linfo_string70                 # DW_AT_name
	.byte	10                              # DW_AT_decl_file
	.byte	66                              # DW_AT_decl_line
	.long	5405                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0xec0:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	24                              # Abbrev [24] 0xec6:0x15 DW_TAG_subprogram
	.long	.Linfo_string73                 # DW_AT_linkage_name
	.long	.Linfo_string74                 # DW_AT_name
	.byte	10                              # DW_AT_decl_file
	.byte	90                              # DW_AT_decl_line
	.long	5405                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0xed5:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	24                              # Abbrev [24] 0xedb:0x15 DW_TAG_subprogram
	.long	.Linfo_string75                 # DW_AT_linkage_name
	.long	.Linfo_string76                 # DW_AT_name
	.byte	10                              # DW_AT_decl_file
	.byte	114                             # DW_AT_decl_line
	.long	5405                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0xeea:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	24                              # Abbrev [24] 0xef0:0x15 DW_TAG_subprogram
	.long	.Linfo_string77                 # DW_AT_linkage_name
	.long	.Linfo_string78                 # DW_AT_name
	.byte	10                              # DW_AT_decl_file
	.byte	133                             # DW_AT_decl_line
	.long	5405                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0xeff:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	24                              # Abbrev [24] 0xf05:0x1a DW_TAG_subprogram
	.long	.Linfo_string79                 # DW_AT_linkage_name
	.long	.Linfo_string80                 # DW_AT_name
	.byte	12                              # DW_AT_decl_file
	.byte	55                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0xf14:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0xf19:0x5 DW_TAG_formal_parameter
	.long	5451                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	25                              # Abbrev [25] 0xf20:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	352                             # DW_AT_decl_line
	.long	3761                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf28:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	353                             # DW_AT_decl_line
	.long	3782                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf30:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	354                             # DW_AT_decl_line
	.long	3803                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf38:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	355                             # DW_AT_decl_line
	.long	3824                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf40:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	364                             # DW_AT_decl_line
	.long	5464                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf48:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	365                             # DW_AT_decl_line
	.long	5482                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf50:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	370                             # DW_AT_decl_line
	.long	5493                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf58:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	372                             # DW_AT_decl_line
	.long	5510                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf60:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	374                             # DW_AT_decl_line
	.long	5527                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf68:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	376                             # DW_AT_decl_line
	.long	5544                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf70:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	378                             # DW_AT_decl_line
	.long	5566                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf78:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	380                             # DW_AT_decl_line
	.long	5583                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf80:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	382                             # DW_AT_decl_line
	.long	5600                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf88:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	385                             # DW_AT_decl_line
	.long	5617                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf90:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	388                             # DW_AT_decl_line
	.long	5634                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xf98:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	390                             # DW_AT_decl_line
	.long	5651                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xfa0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	393                             # DW_AT_decl_line
	.long	5668                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xfa8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	396                             # DW_AT_decl_line
	.long	5690                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xfb0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	398                             # DW_AT_decl_line
	.long	5717                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xfb8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	401                             # DW_AT_decl_line
	.long	5739                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xfc0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	404                             # DW_AT_decl_line
	.long	5756                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xfc8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	405                             # DW_AT_decl_line
	.long	3845                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xfd0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	406                             # DW_AT_decl_line
	.long	5773                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xfd8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	409                             # DW_AT_decl_line
	.long	5800                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xfe0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	412                             # DW_AT_decl_line
	.long	5822                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xfe8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	414                             # DW_AT_decl_line
	.long	5839                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xff0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	417                             # DW_AT_decl_line
	.long	5856                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0xff8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	419                             # DW_AT_decl_line
	.long	5873                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1000:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	422                             # DW_AT_decl_line
	.long	5890                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1008:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	425                             # DW_AT_decl_line
	.long	5907                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1010:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	427                             # DW_AT_decl_line
	.long	5924                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1018:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	429                             # DW_AT_decl_line
	.long	5941                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1020:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	431                             # DW_AT_decl_line
	.long	5958                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1028:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	434                             # DW_AT_decl_line
	.long	5975                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1030:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	437                             # DW_AT_decl_line
	.long	5997                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1038:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	439                             # DW_AT_decl_line
	.long	6014                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1040:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	441                             # DW_AT_decl_line
	.long	6031                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1048:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	443                             # DW_AT_decl_line
	.long	6048                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1050:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	445                             # DW_AT_decl_line
	.long	6065                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1058:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	446                             # DW_AT_decl_line
	.long	6088                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1060:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	449                             # DW_AT_decl_line
	.long	6116                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1068:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	451                             # DW_AT_decl_line
	.long	6139                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1070:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	453                             # DW_AT_decl_line
	.long	6162                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1078:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	455                             # DW_AT_decl_line
	.long	6184                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1080:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	457                             # DW_AT_decl_line
	.long	6202                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1088:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	459                             # DW_AT_decl_line
	.long	6219                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1090:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	461                             # DW_AT_decl_line
	.long	6237                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1098:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	463                             # DW_AT_decl_line
	.long	6255                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10a0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	465                             # DW_AT_decl_line
	.long	6272                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10a8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	467                             # DW_AT_decl_line
	.long	6289                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10b0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	469                             # DW_AT_decl_line
	.long	6306                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10b8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	471                             # DW_AT_decl_line
	.long	6324                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10c0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	473                             # DW_AT_decl_line
	.long	6342                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10c8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	474                             # DW_AT_decl_line
	.long	6376                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10d0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	477                             # DW_AT_decl_line
	.long	6393                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10d8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	479                             # DW_AT_decl_line
	.long	6411                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10e0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	481                             # DW_AT_decl_line
	.long	6434                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10e8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	483                             # DW_AT_decl_line
	.long	6457                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10f0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	485                             # DW_AT_decl_line
	.long	6480                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x10f8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	487                             # DW_AT_decl_line
	.long	6508                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1100:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	489                             # DW_AT_decl_line
	.long	6526                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1108:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	491                             # DW_AT_decl_line
	.long	6544                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1110:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	493                             # DW_AT_decl_line
	.long	6567                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1118:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	495                             # DW_AT_decl_line
	.long	6590                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1120:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	497                             # DW_AT_decl_line
	.long	6607                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1128:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	499                             # DW_AT_decl_line
	.long	6625                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1130:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	500                             # DW_AT_decl_line
	.long	6642                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1138:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	501                             # DW_AT_decl_line
	.long	6659                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1140:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	502                             # DW_AT_decl_line
	.long	6676                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1148:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	503                             # DW_AT_decl_line
	.long	6698                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1150:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	504                             # DW_AT_decl_line
	.long	6715                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1158:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	505                             # DW_AT_decl_line
	.long	6732                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1160:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	506                             # DW_AT_decl_line
	.long	6749                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1168:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	507                             # DW_AT_decl_line
	.long	6766                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1170:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	508                             # DW_AT_decl_line
	.long	6783                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1178:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	509                             # DW_AT_decl_line
	.long	6800                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1180:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	510                             # DW_AT_decl_line
	.long	6822                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1188:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	511                             # DW_AT_decl_line
	.long	6844                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1190:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	512                             # DW_AT_decl_line
	.long	6866                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1198:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	513                             # DW_AT_decl_line
	.long	6883                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11a0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	514                             # DW_AT_decl_line
	.long	6900                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11a8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	515                             # DW_AT_decl_line
	.long	6922                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11b0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	516                             # DW_AT_decl_line
	.long	6944                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11b8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	517                             # DW_AT_decl_line
	.long	6961                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11c0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	518                             # DW_AT_decl_line
	.long	6978                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11c8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	519                             # DW_AT_decl_line
	.long	6995                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11d0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	521                             # DW_AT_decl_line
	.long	7012                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11d8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	522                             # DW_AT_decl_line
	.long	7029                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11e0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	523                             # DW_AT_decl_line
	.long	7046                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11e8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	524                             # DW_AT_decl_line
	.long	7063                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11f0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	525                             # DW_AT_decl_line
	.long	7080                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x11f8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	527                             # DW_AT_decl_line
	.long	7097                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1200:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	529                             # DW_AT_decl_line
	.long	7119                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1208:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	530                             # DW_AT_decl_line
	.long	7136                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1210:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	531                             # DW_AT_decl_line
	.long	7153                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1218:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	532                             # DW_AT_decl_line
	.long	7170                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1220:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	533                             # DW_AT_decl_line
	.long	7187                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1228:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	534                             # DW_AT_decl_line
	.long	7210                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1230:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	535                             # DW_AT_decl_line
	.long	7238                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1238:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	536                             # DW_AT_decl_line
	.long	7261                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1240:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	537                             # DW_AT_decl_line
	.long	7284                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1248:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	538                             # DW_AT_decl_line
	.long	7306                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1250:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	539                             # DW_AT_decl_line
	.long	7324                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1258:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	540                             # DW_AT_decl_line
	.long	7341                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1260:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	541                             # DW_AT_decl_line
	.long	7359                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1268:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	542                             # DW_AT_decl_line
	.long	7377                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1270:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	543                             # DW_AT_decl_line
	.long	7394                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1278:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	544                             # DW_AT_decl_line
	.long	7411                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1280:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	545                             # DW_AT_decl_line
	.long	7428                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1288:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	546                             # DW_AT_decl_line
	.long	7446                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1290:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	547                             # DW_AT_decl_line
	.long	7464                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1298:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	548                             # DW_AT_decl_line
	.long	7481                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x12a0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	549                             # DW_AT_decl_line
	.long	7499                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x12a8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	550                             # DW_AT_decl_line
	.long	7522                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x12b0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	551                             # DW_AT_decl_line
	.long	7545                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x12b8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	552                             # DW_AT_decl_line
	.long	7568                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x12c0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	553                             # DW_AT_decl_line
	.long	7596                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x12c8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	554                             # DW_AT_decl_line
	.long	7614                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x12d0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	555                             # DW_AT_decl_line
	.long	7632                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x12d8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	556                             # DW_AT_decl_line
	.long	7655                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x12e0:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	557                             # DW_AT_decl_line
	.long	7678                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x12e8:0x8 DW_TAG_imported_declaration
	.byte	13                              # DW_AT_decl_file
	.short	558                             # DW_AT_decl_line
	.long	7695                            # DW_AT_import
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	26                              # Abbrev [26] 0x12f2:0xb DW_TAG_typedef
	.long	4861                            # DW_AT_type
	.long	.Linfo_string17                 # DW_AT_name
	.byte	6                               # DW_AT_decl_file
	.byte	24                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x12fd:0xb DW_TAG_typedef
	.long	4872                            # DW_AT_type
	.long	.Linfo_string16                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	37                              # DW_AT_decl_line
	.byte	3                               # Abbrev [3] 0x1308:0x7 DW_TAG_base_type
	.long	.Linfo_string15                 # DW_AT_name
	.byte	6                               # DW_AT_encoding
	.byte	1                               # DW_AT_byte_size
	.byte	26                              # Abbrev [26] 0x130f:0xb DW_TAG_typedef
	.long	4890                            # DW_AT_type
	.long	.Linfo_string20                 # DW_AT_name
	.byte	6                               # DW_AT_decl_file
	.byte	25                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x131a:0xb DW_TAG_typedef
	.long	4901                            # DW_AT_type
	.long	.Linfo_string19                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	39                              # DW_AT_decl_line
	.byte	3                               # Abbrev [3] 0x1325:0x7 DW_TAG_base_type
	.long	.Linfo_string18                 # DW_AT_name
	.byte	5                               # DW_AT_encoding
	.byte	2                               # DW_AT_byte_size
	.byte	26                              # Abbrev [26] 0x132c:0xb DW_TAG_typedef
	.long	4919                            # DW_AT_type
	.long	.Linfo_string22                 # DW_AT_name
	.byte	6                               # DW_AT_decl_file
	.byte	26                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1337:0xb DW_TAG_typedef
	.long	68                              # DW_AT_type
	.long	.Linfo_string21                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	41                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1342:0xb DW_TAG_typedef
	.long	4941                            # DW_AT_type
	.long	.Linfo_string25                 # DW_AT_name
	.byte	6                               # DW_AT_decl_file
	.byte	27                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x134d:0xb DW_TAG_typedef
	.long	4952                            # DW_AT_type
	.long	.Linfo_string24                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	44                              # DW_AT_decl_line
	.byte	3                               # Abbrev [3] 0x1358:0x7 DW_TAG_base_type
	.long	.Linfo_string23                 # DW_AT_name
	.byte	5                               # DW_AT_encoding
	.byte	8                               # DW_AT_byte_size
	.byte	26                              # Abbrev [26] 0x135f:0xb DW_TAG_typedef
	.long	4970                            # DW_AT_type
	.long	.Linfo_string28                 # DW_AT_name
	.byte	8                               # DW_AT_decl_file
	.byte	24                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x136a:0xb DW_TAG_typedef
	.long	4981                            # DW_AT_type
	.long	.Linfo_string27                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	38                              # DW_AT_decl_line
	.byte	3                               # Abbrev [3] 0x1375:0x7 DW_TAG_base_type
	.long	.Linfo_string26                 # DW_AT_name
	.byte	8                               # DW_AT_encoding
	.byte	1                               # DW_AT_byte_size
	.byte	26                              # Abbrev [26] 0x137c:0xb DW_TAG_typedef
	.long	4999                            # DW_AT_type
	.long	.Linfo_string31                 # DW_AT_name
	.byte	8                               # DW_AT_decl_file
	.byte	25                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1387:0xb DW_TAG_typedef
	.long	5010                            # DW_AT_type
	.long	.Linfo_string30                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	40                              # DW_AT_decl_line
	.byte	3                               # Abbrev [3] 0x1392:0x7 DW_TAG_base_type
	.long	.Linfo_string29                 # DW_AT_name
	.byte	7                               # DW_AT_encoding
	.byte	2                               # DW_AT_byte_size
	.byte	26                              # Abbrev [26] 0x1399:0xb DW_TAG_typedef
	.long	5028                            # DW_AT_type
	.long	.Linfo_string34                 # DW_AT_name
	.byte	8                               # DW_AT_decl_file
	.byte	26                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x13a4:0xb DW_TAG_typedef
	.long	5039                            # DW_AT_type
	.long	.Linfo_string33                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	42                              # DW_AT_decl_line
	.byte	3                               # Abbrev [3] 0x13af:0x7 DW_TAG_base_type
	.long	.Linfo_string32                 # DW_AT_name
	.byte	7                               # DW_AT_encoding
	.byte	4                               # DW_AT_byte_size
	.byte	26                              # Abbrev [26] 0x13b6:0xb DW_TAG_typedef
	.long	5057                            # DW_AT_type
	.long	.Linfo_string37                 # DW_AT_name
	.byte	8                               # DW_AT_decl_file
	.byte	27                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x13c1:0xb DW_TAG_typedef
	.long	5068                            # DW_AT_type
	.long	.Linfo_string36                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	45                              # DW_AT_decl_line
	.byte	3                               # Abbrev [3] 0x13cc:0x7 DW_TAG_base_type
	.long	.Linfo_string35                 # DW_AT_name
	.byte	7                               # DW_AT_encoding
	.byte	8                               # DW_AT_byte_size
	.byte	26                              # Abbrev [26] 0x13d3:0xb DW_TAG_typedef
	.long	5086                            # DW_AT_type
	.long	.Linfo_string39                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	43                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x13de:0xb DW_TAG_typedef
	.long	4861                            # DW_AT_type
	.long	.Linfo_string38                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	52                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x13e9:0xb DW_TAG_typedef
	.long	5108                            # DW_AT_type
	.long	.Linfo_string41                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	44                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x13f4:0xb DW_TAG_typedef
	.long	4890                            # DW_AT_type
	.long	.Linfo_string40                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	54                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x13ff:0xb DW_TAG_typedef
	.long	5130                            # DW_AT_type
	.long	.Linfo_string43                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	45                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x140a:0xb DW_TAG_typedef
	.long	4919                            # DW_AT_type
	.long	.Linfo_string42                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	56                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1415:0xb DW_TAG_typedef
	.long	5152                            # DW_AT_type
	.long	.Linfo_string45                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	46                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1420:0xb DW_TAG_typedef
	.long	4941                            # DW_AT_type
	.long	.Linfo_string44                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	58                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x142b:0xb DW_TAG_typedef
	.long	5174                            # DW_AT_type
	.long	.Linfo_string47                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	49                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1436:0xb DW_TAG_typedef
	.long	4970                            # DW_AT_type
	.long	.Linfo_string46                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	53                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1441:0xb DW_TAG_typedef
	.long	5196                            # DW_AT_type
	.long	.Linfo_string49                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	50                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x144c:0xb DW_TAG_typedef
	.long	4999                            # DW_AT_type
	.long	.Linfo_string48                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	55                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1457:0xb DW_TAG_typedef
	.long	5218                            # DW_AT_type
	.long	.Linfo_string51                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	51                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1462:0xb DW_TAG_typedef
	.long	5028                            # DW_AT_type
	.long	.Linfo_string50                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x146d:0xb DW_TAG_typedef
	.long	5240                            # DW_AT_type
	.long	.Linfo_string53                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	52                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1478:0xb DW_TAG_typedef
	.long	5057                            # DW_AT_type
	.long	.Linfo_string52                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1483:0xb DW_TAG_typedef
	.long	4872                            # DW_AT_type
	.long	.Linfo_string54                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	58                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x148e:0xb DW_TAG_typedef
	.long	4952                            # DW_AT_type
	.long	.Linfo_string55                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	60                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1499:0xb DW_TAG_typedef
	.long	4952                            # DW_AT_type
	.long	.Linfo_string56                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	61                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x14a4:0xb DW_TAG_typedef
	.long	4952                            # DW_AT_type
	.long	.Linfo_string57                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	62                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x14af:0xb DW_TAG_typedef
	.long	4981                            # DW_AT_type
	.long	.Linfo_string58                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	71                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x14ba:0xb DW_TAG_typedef
	.long	5068                            # DW_AT_type
	.long	.Linfo_string59                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	73                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x14c5:0xb DW_TAG_typedef
	.long	5068                            # DW_AT_type
	.long	.Linfo_string60                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	74                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x14d0:0xb DW_TAG_typedef
	.long	5068                            # DW_AT_type
	.long	.Linfo_string61                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	75                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x14db:0xb DW_TAG_typedef
	.long	4952                            # DW_AT_type
	.long	.Linfo_string62                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	87                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x14e6:0xb DW_TAG_typedef
	.long	5068                            # DW_AT_type
	.long	.Linfo_string63                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	90                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x14f1:0xb DW_TAG_typedef
	.long	5372                            # DW_AT_type
	.long	.Linfo_string65                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	101                             # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x14fc:0xb DW_TAG_typedef
	.long	4952                            # DW_AT_type
	.long	.Linfo_string64                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	72                              # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1507:0xb DW_TAG_typedef
	.long	5394                            # DW_AT_type
	.long	.Linfo_string67                 # DW_AT_name
	.byte	9                               # DW_AT_decl_file
	.byte	102                             # DW_AT_decl_line
	.byte	26                              # Abbrev [26] 0x1512:0xb DW_TAG_typedef
	.long	5068                            # DW_AT_type
	.long	.Linfo_string66                 # DW_AT_name
	.byte	5                               # DW_AT_decl_file
	.byte	73                              # DW_AT_decl_line
	.byte	3                               # Abbrev [3] 0x151d:0x7 DW_TAG_base_type
	.long	.Linfo_string71                 # DW_AT_name
	.byte	2                               # DW_AT_encoding
	.byte	1                               # DW_AT_byte_size
	.byte	3                               # Abbrev [3] 0x1524:0x7 DW_TAG_base_type
	.long	.Linfo_string72                 # DW_AT_name
	.byte	4                               # DW_AT_encoding
	.byte	16                              # DW_AT_byte_size
	.byte	25                              # Abbrev [25] 0x152b:0x8 DW_TAG_imported_declaration
	.byte	11                              # DW_AT_decl_file
	.short	420                             # DW_AT_decl_line
	.long	3761                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1533:0x8 DW_TAG_imported_declaration
	.byte	11                              # DW_AT_decl_file
	.short	423                             # DW_AT_decl_line
	.long	3782                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x153b:0x8 DW_TAG_imported_declaration
	.byte	11                              # DW_AT_decl_file
	.short	427                             # DW_AT_decl_line
	.long	3803                            # DW_AT_import
	.byte	25                              # Abbrev [25] 0x1543:0x8 DW_TAG_imported_declaration
	.byte	11                              # DW_AT_decl_file
	.short	428                             # DW_AT_decl_line
	.long	3824                            # DW_AT_import
	.byte	18                              # Abbrev [18] 0x154b:0x5 DW_TAG_pointer_type
	.long	5412                            # DW_AT_type
	.byte	25                              # Abbrev [25] 0x1550:0x8 DW_TAG_imported_declaration
	.byte	11                              # DW_AT_decl_file
	.short	495                             # DW_AT_decl_line
	.long	3845                            # DW_AT_import
	.byte	26                              # Abbrev [26] 0x1558:0xb DW_TAG_typedef
	.long	5475                            # DW_AT_type
	.long	.Linfo_string82                 # DW_AT_name
	.byte	14                              # DW_AT_decl_file
	.byte	163                             # DW_AT_decl_line
	.byte	3                               # Abbrev [3] 0x1563:0x7 DW_TAG_base_type
	.long	.Linfo_string81                 # DW_AT_name
	.byte	4                               # DW_AT_encoding
	.byte	4                               # DW_AT_byte_size
	.byte	26                              # Abbrev [26] 0x156a:0xb DW_TAG_typedef
	.long	126                             # DW_AT_type
	.long	.Linfo_string83                 # DW_AT_name
	.byte	14                              # DW_AT_decl_file
	.byte	164                             # DW_AT_decl_line
	.byte	27                              # Abbrev [27] 0x1575:0x11 DW_TAG_subprogram
	.long	.Linfo_string84                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	53                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1580:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1586:0x11 DW_TAG_subprogram
	.long	.Linfo_string85                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	55                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1591:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1597:0x11 DW_TAG_subprogram
	.long	.Linfo_string86                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x15a2:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x15a8:0x16 DW_TAG_subprogram
	.long	.Linfo_string87                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x15b3:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x15b8:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x15be:0x11 DW_TAG_subprogram
	.long	.Linfo_string88                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	159                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x15c9:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x15cf:0x11 DW_TAG_subprogram
	.long	.Linfo_string89                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	62                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x15da:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x15e0:0x11 DW_TAG_subprogram
	.long	.Linfo_string90                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	71                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x15eb:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x15f1:0x11 DW_TAG_subprogram
	.long	.Linfo_string91                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	95                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x15fc:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1602:0x11 DW_TAG_subprogram
	.long	.Linfo_string92                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	162                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x160d:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1613:0x11 DW_TAG_subprogram
	.long	.Linfo_string93                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	165                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x161e:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1624:0x16 DW_TAG_subprogram
	.long	.Linfo_string94                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	168                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x162f:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1634:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x163a:0x16 DW_TAG_subprogram
	.long	.Linfo_string95                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	98                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1645:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x164a:0x5 DW_TAG_formal_parameter
	.long	5712                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	18                              # Abbrev [18] 0x1650:0x5 DW_TAG_pointer_type
	.long	68                              # DW_AT_type
	.byte	27                              # Abbrev [27] 0x1655:0x16 DW_TAG_subprogram
	.long	.Linfo_string96                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	101                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1660:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1665:0x5 DW_TAG_formal_parameter
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x166b:0x11 DW_TAG_subprogram
	.long	.Linfo_string97                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	104                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1676:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x167c:0x11 DW_TAG_subprogram
	.long	.Linfo_string98                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	107                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1687:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x168d:0x16 DW_TAG_subprogram
	.long	.Linfo_string99                 # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	110                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1698:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x169d:0x5 DW_TAG_formal_parameter
	.long	5795                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	18                              # Abbrev [18] 0x16a3:0x5 DW_TAG_pointer_type
	.long	5475                            # DW_AT_type
	.byte	27                              # Abbrev [27] 0x16a8:0x16 DW_TAG_subprogram
	.long	.Linfo_string100                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	140                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x16b3:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x16b8:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x16be:0x11 DW_TAG_subprogram
	.long	.Linfo_string101                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	64                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x16c9:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x16cf:0x11 DW_TAG_subprogram
	.long	.Linfo_string102                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	73                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x16da:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x16e0:0x11 DW_TAG_subprogram
	.long	.Linfo_string103                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	143                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x16eb:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x16f1:0x11 DW_TAG_subprogram
	.long	.Linfo_string104                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	66                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x16fc:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1702:0x11 DW_TAG_subprogram
	.long	.Linfo_string105                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	75                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x170d:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1713:0x11 DW_TAG_subprogram
	.long	.Linfo_string106                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	85                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x171e:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1724:0x11 DW_TAG_subprogram
	.long	.Linfo_string107                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	87                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x172f:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1735:0x11 DW_TAG_subprogram
	.long	.Linfo_string108                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	89                              # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1740:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1746:0x11 DW_TAG_subprogram
	.long	.Linfo_string109                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	152                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1751:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1757:0x16 DW_TAG_subprogram
	.long	.Linfo_string110                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	198                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1762:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1767:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x176d:0x11 DW_TAG_subprogram
	.long	.Linfo_string111                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	231                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1778:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x177e:0x11 DW_TAG_subprogram
	.long	.Linfo_string112                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	232                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1789:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x178f:0x11 DW_TAG_subprogram
	.long	.Linfo_string113                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	130                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x179a:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x17a0:0x11 DW_TAG_subprogram
	.long	.Linfo_string114                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	119                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x17ab:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x17b1:0x17 DW_TAG_subprogram
	.long	.Linfo_string115                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	329                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x17bd:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x17c2:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x17c8:0x1c DW_TAG_subprogram
	.long	.Linfo_string116                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	340                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x17d4:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x17d9:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x17de:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x17e4:0x17 DW_TAG_subprogram
	.long	.Linfo_string117                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	333                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x17f0:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x17f5:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x17fb:0x17 DW_TAG_subprogram
	.long	.Linfo_string118                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	336                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1807:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x180c:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1812:0x16 DW_TAG_subprogram
	.long	.Linfo_string119                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	147                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x181d:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1822:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1828:0x12 DW_TAG_subprogram
	.long	.Linfo_string120                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	283                             # DW_AT_decl_line
	.long	68                              # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1834:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x183a:0x11 DW_TAG_subprogram
	.long	.Linfo_string121                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	233                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1845:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x184b:0x12 DW_TAG_subprogram
	.long	.Linfo_string122                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	319                             # DW_AT_decl_line
	.long	119                             # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1857:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x185d:0x12 DW_TAG_subprogram
	.long	.Linfo_string123                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	325                             # DW_AT_decl_line
	.long	119                             # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1869:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x186f:0x11 DW_TAG_subprogram
	.long	.Linfo_string124                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	122                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x187a:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1880:0x11 DW_TAG_subprogram
	.long	.Linfo_string125                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	133                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x188b:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1891:0x11 DW_TAG_subprogram
	.long	.Linfo_string126                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	125                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x189c:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x18a2:0x12 DW_TAG_subprogram
	.long	.Linfo_string127                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	317                             # DW_AT_decl_line
	.long	4952                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x18ae:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x18b4:0x12 DW_TAG_subprogram
	.long	.Linfo_string128                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	323                             # DW_AT_decl_line
	.long	4952                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x18c0:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x18c6:0x11 DW_TAG_subprogram
	.long	.Linfo_string129                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	203                             # DW_AT_decl_line
	.long	126                             # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x18d1:0x5 DW_TAG_formal_parameter
	.long	6359                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	18                              # Abbrev [18] 0x18d7:0x5 DW_TAG_pointer_type
	.long	6364                            # DW_AT_type
	.byte	5                               # Abbrev [5] 0x18dc:0x5 DW_TAG_const_type
	.long	6369                            # DW_AT_type
	.byte	3                               # Abbrev [3] 0x18e1:0x7 DW_TAG_base_type
	.long	.Linfo_string130                # DW_AT_name
	.byte	6                               # DW_AT_encoding
	.byte	1                               # DW_AT_byte_size
	.byte	27                              # Abbrev [27] 0x18e8:0x11 DW_TAG_subprogram
	.long	.Linfo_string131                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	203                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x18f3:0x5 DW_TAG_formal_parameter
	.long	6359                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x18f9:0x12 DW_TAG_subprogram
	.long	.Linfo_string132                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	297                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1905:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x190b:0x17 DW_TAG_subprogram
	.long	.Linfo_string133                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	262                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1917:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x191c:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1922:0x17 DW_TAG_subprogram
	.long	.Linfo_string134                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	264                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x192e:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1933:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1939:0x17 DW_TAG_subprogram
	.long	.Linfo_string135                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	275                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1945:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x194a:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1950:0x1c DW_TAG_subprogram
	.long	.Linfo_string136                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	310                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x195c:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1961:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1966:0x5 DW_TAG_formal_parameter
	.long	5712                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x196c:0x12 DW_TAG_subprogram
	.long	.Linfo_string137                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	259                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1978:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x197e:0x12 DW_TAG_subprogram
	.long	.Linfo_string138                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	301                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x198a:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1990:0x17 DW_TAG_subprogram
	.long	.Linfo_string139                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	293                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x199c:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x19a1:0x5 DW_TAG_formal_parameter
	.long	4952                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x19a7:0x17 DW_TAG_subprogram
	.long	.Linfo_string140                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	279                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x19b3:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x19b8:0x5 DW_TAG_formal_parameter
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x19be:0x11 DW_TAG_subprogram
	.long	.Linfo_string141                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	238                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x19c9:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x19cf:0x12 DW_TAG_subprogram
	.long	.Linfo_string142                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	305                             # DW_AT_decl_line
	.long	5475                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x19db:0x5 DW_TAG_formal_parameter
	.long	5475                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x19e1:0x11 DW_TAG_subprogram
	.long	.Linfo_string143                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	53                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x19ec:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x19f2:0x11 DW_TAG_subprogram
	.long	.Linfo_string144                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	55                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x19fd:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1a03:0x11 DW_TAG_subprogram
	.long	.Linfo_string145                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	57                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1a0e:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1a14:0x16 DW_TAG_subprogram
	.long	.Linfo_string146                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	59                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1a1f:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1a24:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1a2a:0x11 DW_TAG_subprogram
	.long	.Linfo_string147                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	159                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1a35:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1a3b:0x11 DW_TAG_subprogram
	.long	.Linfo_string148                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	62                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1a46:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1a4c:0x11 DW_TAG_subprogram
	.long	.Linfo_string149                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	71                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1a57:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1a5d:0x11 DW_TAG_subprogram
	.long	.Linfo_string150                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	95                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1a68:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1a6e:0x11 DW_TAG_subprogram
	.long	.Linfo_string151                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	162                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1a79:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1a7f:0x11 DW_TAG_subprogram
	.long	.Linfo_string152                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	165                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1a8a:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1a90:0x16 DW_TAG_subprogram
	.long	.Linfo_string153                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	168                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1a9b:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1aa0:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1aa6:0x16 DW_TAG_subprogram
	.long	.Linfo_string154                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	98                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1ab1:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1ab6:0x5 DW_TAG_formal_parameter
	.long	5712                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1abc:0x16 DW_TAG_subprogram
	.long	.Linfo_string155                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	101                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1ac7:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1acc:0x5 DW_TAG_formal_parameter
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1ad2:0x11 DW_TAG_subprogram
	.long	.Linfo_string156                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	104                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1add:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1ae3:0x11 DW_TAG_subprogram
	.long	.Linfo_string157                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	107                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1aee:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1af4:0x16 DW_TAG_subprogram
	.long	.Linfo_string158                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	110                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1aff:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1b04:0x5 DW_TAG_formal_parameter
	.long	5451                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1b0a:0x16 DW_TAG_subprogram
	.long	.Linfo_string159                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	140                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1b15:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1b1a:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1b20:0x11 DW_TAG_subprogram
	.long	.Linfo_string160                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	64                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1b2b:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1b31:0x11 DW_TAG_subprogram
	.long	.Linfo_string161                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	73                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1b3c:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1b42:0x11 DW_TAG_subprogram
	.long	.Linfo_string162                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	143                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1b4d:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1b53:0x11 DW_TAG_subprogram
	.long	.Linfo_string163                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	66                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1b5e:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1b64:0x11 DW_TAG_subprogram
	.long	.Linfo_string164                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	75                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1b6f:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1b75:0x11 DW_TAG_subprogram
	.long	.Linfo_string165                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	85                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1b80:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1b86:0x11 DW_TAG_subprogram
	.long	.Linfo_string166                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	87                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1b91:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1b97:0x11 DW_TAG_subprogram
	.long	.Linfo_string167                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	89                              # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1ba2:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1ba8:0x11 DW_TAG_subprogram
	.long	.Linfo_string168                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	152                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1bb3:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1bb9:0x16 DW_TAG_subprogram
	.long	.Linfo_string169                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	198                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1bc4:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1bc9:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1bcf:0x11 DW_TAG_subprogram
	.long	.Linfo_string170                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	231                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1bda:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1be0:0x11 DW_TAG_subprogram
	.long	.Linfo_string171                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	232                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1beb:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1bf1:0x11 DW_TAG_subprogram
	.long	.Linfo_string172                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	130                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1bfc:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1c02:0x11 DW_TAG_subprogram
	.long	.Linfo_string173                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	119                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1c0d:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1c13:0x17 DW_TAG_subprogram
	.long	.Linfo_string174                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	329                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1c1f:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1c24:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1c2a:0x1c DW_TAG_subprogram
	.long	.Linfo_string175                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	340                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1c36:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1c3b:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1c40:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1c46:0x17 DW_TAG_subprogram
	.long	.Linfo_string176                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	333                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1c52:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1c57:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1c5d:0x17 DW_TAG_subprogram
	.long	.Linfo_string177                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	336                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1c69:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1c6e:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1c74:0x16 DW_TAG_subprogram
	.long	.Linfo_string178                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	147                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1c7f:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1c84:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1c8a:0x12 DW_TAG_subprogram
	.long	.Linfo_string179                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	283                             # DW_AT_decl_line
	.long	68                              # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1c96:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1c9c:0x11 DW_TAG_subprogram
	.long	.Linfo_string180                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	233                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1ca7:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1cad:0x12 DW_TAG_subprogram
	.long	.Linfo_string181                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	319                             # DW_AT_decl_line
	.long	119                             # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1cb9:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1cbf:0x12 DW_TAG_subprogram
	.long	.Linfo_string182                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	325                             # DW_AT_decl_line
	.long	119                             # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1ccb:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1cd1:0x11 DW_TAG_subprogram
	.long	.Linfo_string183                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	122                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1cdc:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1ce2:0x11 DW_TAG_subprogram
	.long	.Linfo_string184                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	133                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1ced:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1cf3:0x11 DW_TAG_subprogram
	.long	.Linfo_string185                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	125                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1cfe:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1d04:0x12 DW_TAG_subprogram
	.long	.Linfo_string186                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	317                             # DW_AT_decl_line
	.long	4952                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1d10:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1d16:0x12 DW_TAG_subprogram
	.long	.Linfo_string187                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	323                             # DW_AT_decl_line
	.long	4952                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1d22:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1d28:0x11 DW_TAG_subprogram
	.long	.Linfo_string188                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	203                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1d33:0x5 DW_TAG_formal_parameter
	.long	6359                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1d39:0x12 DW_TAG_subprogram
	.long	.Linfo_string189                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	297                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1d45:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1d4b:0x17 DW_TAG_subprogram
	.long	.Linfo_string190                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	262                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1d57:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1d5c:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1d62:0x17 DW_TAG_subprogram
	.long	.Linfo_string191                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	264                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1d6e:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1d73:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1d79:0x17 DW_TAG_subprogram
	.long	.Linfo_string192                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	275                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1d85:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1d8a:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1d90:0x1c DW_TAG_subprogram
	.long	.Linfo_string193                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	310                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1d9c:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1da1:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1da6:0x5 DW_TAG_formal_parameter
	.long	5712                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1dac:0x12 DW_TAG_subprogram
	.long	.Linfo_string194                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	259                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1db8:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1dbe:0x12 DW_TAG_subprogram
	.long	.Linfo_string195                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	301                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1dca:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1dd0:0x17 DW_TAG_subprogram
	.long	.Linfo_string196                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	293                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1ddc:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1de1:0x5 DW_TAG_formal_parameter
	.long	4952                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1de7:0x17 DW_TAG_subprogram
	.long	.Linfo_string197                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	279                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1df3:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	14                              # Abbrev [14] 0x1df8:0x5 DW_TAG_formal_parameter
	.long	68                              # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	27                              # Abbrev [27] 0x1dfe:0x11 DW_TAG_subprogram
	.long	.Linfo_string198                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.byte	238                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1e09:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	28                              # Abbrev [28] 0x1e0f:0x12 DW_TAG_subprogram
	.long	.Linfo_string199                # DW_AT_name
	.byte	15                              # DW_AT_decl_file
	.short	305                             # DW_AT_decl_line
	.long	5412                            # DW_AT_type
                                        # DW_AT_declaration
                                        # DW_AT_external
	.byte	14                              # Abbrev [14] 0x1e1b:0x5 DW_TAG_formal_parameter
	.long	5412                            # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	18                              # Abbrev [18] 0x1e21:0x5 DW_TAG_pointer_type
	.long	126                             # DW_AT_type
	.byte	29                              # Abbrev [29] 0x1e26:0xd DW_TAG_array_type
	.long	126                             # DW_AT_type
	.byte	30                              # Abbrev [30] 0x1e2b:0x7 DW_TAG_subrange_type
	.long	7731                            # DW_AT_type
	.short	256                             # DW_AT_count
	.byte	0                               # End Of Children Mark
	.byte	31                              # Abbrev [31] 0x1e33:0x7 DW_TAG_base_type
	.long	.Linfo_string233                # DW_AT_name
	.byte	8                               # DW_AT_byte_size
	.byte	7                               # DW_AT_encoding
	.byte	18                              # Abbrev [18] 0x1e3a:0x5 DW_TAG_pointer_type
	.long	3491                            # DW_AT_type
	.byte	0                               # End Of Children Mark
.Ldebug_info_end0:
	.section	.debug_str,"MS",@progbits,1
.Linfo_string0:
	.asciz	"clang version 22.1.8"          # string offset=0
.Linfo_string1:
	.asciz	"/root/.cache/zig/tmp/11979bcbd9bddb5be7afef58157a6919-stdin.cpp" # string offset=21
.Linfo_string2:
	.asciz	"/tmp/wt/families"              # string offset=85
.Linfo_string3:
	.asciz	"worker"                        # string offset=102
.Linfo_string4:
	.asciz	"int"                           # string offset=109
.Linfo_string5:
	.asciz	"_ZL6worker"                    # string offset=113
.Linfo_string6:
	.asciz	"workers"                       # string offset=124
.Linfo_string7:
	.asciz	"_ZL7workers"                   # string offset=132
.Linfo_string8:
	.asciz	"PARTS"                         # string offset=144
.Linfo_string9:
	.asciz	"long long"                     # string offset=150
.Linfo_string10:
	.asciz	"double"                        # string offset=160
.Linfo_string11:
	.asciz	"mine"                          # string offset=167
.Linfo_string12:
	.asciz	"operator()"                    # string offset=172
.Linfo_string13:
	.asciz	"std"                           # string offset=183
.Linfo_string14:
	.asciz	"__1"                           # string offset=187
.Linfo_string15:
	.asciz	"signed char"                   # string offset=191
.Linfo_string16:
	.asciz	"__int8_t"                      # string offset=203
.Linfo_string17:
	.asciz	"int8_t"                        # string offset=212
.Linfo_string18:
	.asciz	"short"                         # string offset=219
.Linfo_string19:
	.asciz	"__int16_t"                     # string offset=225
.Linfo_string20:
	.asciz	"int16_t"                       # string offset=235
.Linfo_string21:
	.asciz	"__int32_t"                     # string offset=243
.Linfo_string22:
	.asciz	"int32_t"                       # string offset=253
.Linfo_string23:
	.asciz	"long"                          # string offset=261
.Linfo_string24:
	.asciz	"__int64_t"                     # string offset=266
.Linfo_string25:
	.asciz	"int64_t"                       # string offset=276
.Linfo_string26:
	.asciz	"unsigned char"                 # string offset=284
.Linfo_string27:
	.asciz	"__uint8_t"                     # string offset=298
.Linfo_string28:
	.asciz	"uint8_t"                       # string offset=308
.Linfo_string29:
	.asciz	"unsigned short"                # string offset=316
.Linfo_string30:
	.asciz	"__uint16_t"                    # string offset=331
.Linfo_string31:
	.asciz	"uint16_t"                      # string offset=342
.Linfo_string32:
	.asciz	"unsigned int"                  # string offset=351
.Linfo_string33:
	.asciz	"__uint32_t"                    # string offset=364
.Linfo_string34:
	.asciz	"uint32_t"                      # string offset=375
.Linfo_string35:
	.asciz	"unsigned long"                 # string offset=384
.Linfo_string36:
	.asciz	"__uint64_t"                    # string offset=398
.Linfo_string37:
	.asciz	"uint64_t"                      # string offset=409
.Linfo_string38:
	.asciz	"__int_least8_t"                # string offset=418
.Linfo_string39:
	.asciz	"int_least8_t"                  # string offset=433
.Linfo_string40:
	.asciz	"__int_least16_t"               # string offset=446
.Linfo_string41:
	.asciz	"int_least16_t"                 # string offset=462
.Linfo_string42:
	.asciz	"__int_least32_t"               # string offset=476
.Linfo_string43:
	.asciz	"int_least32_t"                 # string offset=492
.Linfo_string44:
	.asciz	"__int_least64_t"               # string offset=506
.Linfo_string45:
	.asciz	"int_least64_t"                 # string offset=522
.Linfo_string46:
	.asciz	"__uint_least8_t"               # string offset=536
.Linfo_string47:
	.asciz	"uint_least8_t"                 # string offset=552
.Linfo_string48:
	.asciz	"__uint_least16_t"              # string offset=566
.Linfo_string49:
	.asciz	"uint_least16_t"                # string offset=583
.Linfo_string50:
	.asciz	"__uint_least32_t"              # string offset=598
.Linfo_string51:
	.asciz	"uint_least32_t"                # string offset=615
.Linfo_string52:
	.asciz	"__uint_least64_t"              # string offset=630
.Linfo_string53:
	.asciz	"uint_least64_t"                # string offset=647
.Linfo_string54:
	.asciz	"int_fast8_t"                   # string offset=662
.Linfo_string55:
	.asciz	"int_fast16_t"                  # string offset=674
.Linfo_string56:
	.asciz	"int_fast32_t"                  # string offset=687
.Linfo_string57:
	.asciz	"int_fast64_t"                  # string offset=700
.Linfo_string58:
	.asciz	"uint_fast8_t"                  # string offset=713
.Linfo_string59:
	.asciz	"uint_fast16_t"                 # string offset=726
.Linfo_string60:
	.asciz	"uint_fast32_t"                 # string offset=740
.Linfo_string61:
	.asciz	"uint_fast64_t"                 # string offset=754
.Linfo_string62:
	.asciz	"intptr_t"                      # string offset=768
.Linfo_string63:
	.asciz	"uintptr_t"                     # string offset=777
.Linfo_string64:
	.asciz	"__intmax_t"                    # string offset=787
.Linfo_string65:
	.asciz	"intmax_t"                      # string offset=798
.Linfo_string66:
	.asciz	"__uintmax_t"                   # string offset=807
.Linfo_string67:
	.asciz	"uintmax_t"                     # string offset=819
.Linfo_string68:
	.asciz	"__math"                        # string offset=829
.Linfo_string69:
	.asciz	"_ZNSt3__16__math8isfiniteB9nie220108Ee" # string offset=836
.Linfo_string70:
	.asciz	"isfinite"                      # string offset=875
.Linfo_string71:
	.asciz	"bool"                          # string offset=884
.Linfo_string72:
	.asciz	"long double"                   # string offset=889
.Linfo_string73:
	.asciz	"_ZNSt3__16__math5isinfB9nie220108Ee" # string offset=901
.Linfo_string74:
	.asciz	"isinf"                         # string offset=937
.Linfo_string75:
	.asciz	"_ZNSt3__16__math5isnanB9nie220108Ee" # string offset=943
.Linfo_string76:
	.asciz	"isnan"                         # string offset=979
.Linfo_string77:
	.asciz	"_ZNSt3__16__math8isnormalB9nie220108Ee" # string offset=985
.Linfo_string78:
	.asciz	"isnormal"                      # string offset=1024
.Linfo_string79:
	.asciz	"_ZNSt3__16__math4modfB9nie220108EePe" # string offset=1033
.Linfo_string80:
	.asciz	"modf"                          # string offset=1070
.Linfo_string81:
	.asciz	"float"                         # string offset=1075
.Linfo_string82:
	.asciz	"float_t"                       # string offset=1081
.Linfo_string83:
	.asciz	"double_t"                      # string offset=1089
.Linfo_string84:
	.asciz	"acosf"                         # string offset=1098
.Linfo_string85:
	.asciz	"asinf"                         # string offset=1104
.Linfo_string86:
	.asciz	"atanf"                         # string offset=1110
.Linfo_string87:
	.asciz	"atan2f"                        # string offset=1116
.Linfo_string88:
	.asciz	"ceilf"                         # string offset=1123
.Linfo_string89:
	.asciz	"cosf"                          # string offset=1129
.Linfo_string90:
	.asciz	"coshf"                         # string offset=1134
.Linfo_string91:
	.asciz	"expf"                          # string offset=1140
.Linfo_string92:
	.asciz	"fabsf"                         # string offset=1145
.Linfo_string93:
	.asciz	"floorf"                        # string offset=1151
.Linfo_string94:
	.asciz	"fmodf"                         # string offset=1158
.Linfo_string95:
	.asciz	"frexpf"                        # string offset=1164
.Linfo_string96:
	.asciz	"ldexpf"                        # string offset=1171
.Linfo_string97:
	.asciz	"logf"                          # string offset=1178
.Linfo_string98:
	.asciz	"log10f"                        # string offset=1183
.Linfo_string99:
	.asciz	"modff"                         # string offset=1190
.Linfo_string100:
	.asciz	"powf"                          # string offset=1196
.Linfo_string101:
	.asciz	"sinf"                          # string offset=1201
.Linfo_string102:
	.asciz	"sinhf"                         # string offset=1206
.Linfo_string103:
	.asciz	"sqrtf"                         # string offset=1212
.Linfo_string104:
	.asciz	"tanf"                          # string offset=1218
.Linfo_string105:
	.asciz	"tanhf"                         # string offset=1223
.Linfo_string106:
	.asciz	"acoshf"                        # string offset=1229
.Linfo_string107:
	.asciz	"asinhf"                        # string offset=1236
.Linfo_string108:
	.asciz	"atanhf"                        # string offset=1243
.Linfo_string109:
	.asciz	"cbrtf"                         # string offset=1250
.Linfo_string110:
	.asciz	"copysignf"                     # string offset=1256
.Linfo_string111:
	.asciz	"erff"                          # string offset=1266
.Linfo_string112:
	.asciz	"erfcf"                         # string offset=1271
.Linfo_string113:
	.asciz	"exp2f"                         # string offset=1277
.Linfo_string114:
	.asciz	"expm1f"                        # string offset=1283
.Linfo_string115:
	.asciz	"fdimf"                         # string offset=1290
.Linfo_string116:
	.asciz	"fmaf"                          # string offset=1296
.Linfo_string117:
	.asciz	"fmaxf"                         # string offset=1301
.Linfo_string118:
	.asciz	"fminf"                         # string offset=1307
.Linfo_string119:
	.asciz	"hypotf"                        # string offset=1313
.Linfo_string120:
	.asciz	"ilogbf"                        # string offset=1320
.Linfo_string121:
	.asciz	"lgammaf"                       # string offset=1327
.Linfo_string122:
	.asciz	"llrintf"                       # string offset=1335
.Linfo_string123:
	.asciz	"llroundf"                      # string offset=1343
.Linfo_string124:
	.asciz	"log1pf"                        # string offset=1352
.Linfo_string125:
	.asciz	"log2f"                         # string offset=1359
.Linfo_string126:
	.asciz	"logbf"                         # string offset=1365
.Linfo_string127:
	.asciz	"lrintf"                        # string offset=1371
.Linfo_string128:
	.asciz	"lroundf"                       # string offset=1378
.Linfo_string129:
	.asciz	"nan"                           # string offset=1386
.Linfo_string130:
	.asciz	"char"                          # string offset=1390
.Linfo_string131:
	.asciz	"nanf"                          # string offset=1395
.Linfo_string132:
	.asciz	"nearbyintf"                    # string offset=1400
.Linfo_string133:
	.asciz	"nextafterf"                    # string offset=1411
.Linfo_string134:
	.asciz	"nexttowardf"                   # string offset=1422
.Linfo_string135:
	.asciz	"remainderf"                    # string offset=1434
.Linfo_string136:
	.asciz	"remquof"                       # string offset=1445
.Linfo_string137:
	.asciz	"rintf"                         # string offset=1453
.Linfo_string138:
	.asciz	"roundf"                        # string offset=1459
.Linfo_string139:
	.asciz	"scalblnf"                      # string offset=1466
.Linfo_string140:
	.asciz	"scalbnf"                       # string offset=1475
.Linfo_string141:
	.asciz	"tgammaf"                       # string offset=1483
.Linfo_string142:
	.asciz	"truncf"                        # string offset=1491
.Linfo_string143:
	.asciz	"acosl"                         # string offset=1498
.Linfo_string144:
	.asciz	"asinl"                         # string offset=1504
.Linfo_string145:
	.asciz	"atanl"                         # string offset=1510
.Linfo_string146:
	.asciz	"atan2l"                        # string offset=1516
.Linfo_string147:
	.asciz	"ceill"                         # string offset=1523
.Linfo_string148:
	.asciz	"cosl"                          # string offset=1529
.Linfo_string149:
	.asciz	"coshl"                         # string offset=1534
.Linfo_string150:
	.asciz	"expl"                          # string offset=1540
.Linfo_string151:
	.asciz	"fabsl"                         # string offset=1545
.Linfo_string152:
	.asciz	"floorl"                        # string offset=1551
.Linfo_string153:
	.asciz	"fmodl"                         # string offset=1558
.Linfo_string154:
	.asciz	"frexpl"                        # string offset=1564
.Linfo_string155:
	.asciz	"ldexpl"                        # string offset=1571
.Linfo_string156:
	.asciz	"logl"                          # string offset=1578
.Linfo_string157:
	.asciz	"log10l"                        # string offset=1583
.Linfo_string158:
	.asciz	"modfl"                         # string offset=1590
.Linfo_string159:
	.asciz	"powl"                          # string offset=1596
.Linfo_string160:
	.asciz	"sinl"                          # string offset=1601
.Linfo_string161:
	.asciz	"sinhl"                         # string offset=1606
.Linfo_string162:
	.asciz	"sqrtl"                         # string offset=1612
.Linfo_string163:
	.asciz	"tanl"                          # string offset=1618
.Linfo_string164:
	.asciz	"tanhl"                         # string offset=1623
.Linfo_string165:
	.asciz	"acoshl"                        # string offset=1629
.Linfo_string166:
	.asciz	"asinhl"                        # string offset=1636
.Linfo_string167:
	.asciz	"atanhl"                        # string offset=1643
.Linfo_string168:
	.asciz	"cbrtl"                         # string offset=1650
.Linfo_string169:
	.asciz	"copysignl"                     # string offset=1656
.Linfo_string170:
	.asciz	"erfl"                          # string offset=1666
.Linfo_string171:
	.asciz	"erfcl"                         # string offset=1671
.Linfo_string172:
	.asciz	"exp2l"                         # string offset=1677
.Linfo_string173:
	.asciz	"expm1l"                        # string offset=1683
.Linfo_string174:
	.asciz	"fdiml"                         # string offset=1690
.Linfo_string175:
	.asciz	"fmal"                          # string offset=1696
.Linfo_string176:
	.asciz	"fmaxl"                         # string offset=1701
.Linfo_string177:
	.asciz	"fminl"                         # string offset=1707
.Linfo_string178:
	.asciz	"hypotl"                        # string offset=1713
.Linfo_string179:
	.asciz	"ilogbl"                        # string offset=1720
.Linfo_string180:
	.asciz	"lgammal"                       # string offset=1727
.Linfo_string181:
	.asciz	"llrintl"                       # string offset=1735
.Linfo_string182:
	.asciz	"llroundl"                      # string offset=1743
.Linfo_string183:
	.asciz	"log1pl"                        # string offset=1752
.Linfo_string184:
	.asciz	"log2l"                         # string offset=1759
.Linfo_string185:
	.asciz	"logbl"                         # string offset=1765
.Linfo_string186:
	.asciz	"lrintl"                        # string offset=1771
.Linfo_string187:
	.asciz	"lroundl"                       # string offset=1778
.Linfo_string188:
	.asciz	"nanl"                          # string offset=1786
.Linfo_string189:
	.asciz	"nearbyintl"                    # string offset=1791
.Linfo_string190:
	.asciz	"nextafterl"                    # string offset=1802
.Linfo_string191:
	.asciz	"nexttowardl"                   # string offset=1813
.Linfo_string192:
	.asciz	"remainderl"                    # string offset=1825
.Linfo_string193:
	.asciz	"remquol"                       # string offset=1836
.Linfo_string194:
	.asciz	"rintl"                         # string offset=1844
.Linfo_string195:
	.asciz	"roundl"                        # string offset=1850
.Linfo_string196:
	.asciz	"scalblnl"                      # string offset=1857
.Linfo_string197:
	.asciz	"scalbnl"                       # string offset=1866
.Linfo_string198:
	.asciz	"tgammal"                       # string offset=1874
.Linfo_string199:
	.asciz	"truncl"                        # string offset=1882
.Linfo_string200:
	.asciz	"square_sums"                   # string offset=1889
.Linfo_string201:
	.asciz	"_ZL8share_ofii"                # string offset=1901
.Linfo_string202:
	.asciz	"share_of"                      # string offset=1916
.Linfo_string203:
	.asciz	"Value"                         # string offset=1925
.Linfo_string204:
	.asciz	"_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_" # string offset=1931
.Linfo_string205:
	.asciz	"block_sum<(lambda at /tmp/wt/families/boxpresso/train/solver.cu:16:71)>" # string offset=1972
.Linfo_string206:
	.asciz	"T"                             # string offset=2044
.Linfo_string207:
	.asciz	"_ZL3minIiET_S0_S0_"            # string offset=2046
.Linfo_string208:
	.asciz	"min<int>"                      # string offset=2065
.Linfo_string209:
	.asciz	"sgd"                           # string offset=2074
.Linfo_string210:
	.asciz	"_ZL8gradientddddi"             # string offset=2078
.Linfo_string211:
	.asciz	"gradient"                      # string offset=2096
.Linfo_string212:
	.asciz	"nesterov"                      # string offset=2105
.Linfo_string213:
	.asciz	"adagrad"                       # string offset=2114
.Linfo_string214:
	.asciz	"rmsprop"                       # string offset=2122
.Linfo_string215:
	.asciz	"adadelta"                      # string offset=2130
.Linfo_string216:
	.asciz	"adam"                          # string offset=2139
.Linfo_string217:
	.asciz	"run_square_sums"               # string offset=2144
.Linfo_string218:
	.asciz	"run_sgd"                       # string offset=2160
.Linfo_string219:
	.asciz	"run_nesterov"                  # string offset=2168
.Linfo_string220:
	.asciz	"run_adagrad"                   # string offset=2181
.Linfo_string221:
	.asciz	"run_rmsprop"                   # string offset=2193
.Linfo_string222:
	.asciz	"run_adadelta"                  # string offset=2205
.Linfo_string223:
	.asciz	"run_adam"                      # string offset=2218
.Linfo_string224:
	.asciz	"_ZZ11square_sumsENK3$_0clEi"   # string offset=2227
.Linfo_string225:
	.asciz	"n"                             # string offset=2255
.Linfo_string226:
	.asciz	"x"                             # string offset=2257
.Linfo_string227:
	.asciz	"partial"                       # string offset=2259
.Linfo_string228:
	.asciz	"count"                         # string offset=2267
.Linfo_string229:
	.asciz	"piece"                         # string offset=2273
.Linfo_string230:
	.asciz	"b"                             # string offset=2279
.Linfo_string231:
	.asciz	"b_end"                         # string offset=2281
.Linfo_string232:
	.asciz	"part"                          # string offset=2287
.Linfo_string233:
	.asciz	"__ARRAY_SIZE_TYPE__"           # string offset=2292
.Linfo_string234:
	.asciz	"sum"                           # string offset=2312
.Linfo_string235:
	.asciz	"t"                             # string offset=2316
.Linfo_string236:
	.asciz	"id"                            # string offset=2318
.Linfo_string237:
	.asciz	"value"                         # string offset=2321
.Linfo_string238:
	.asciz	"parts"                         # string offset=2327
.Linfo_string239:
	.asciz	"i"                             # string offset=2333
.Linfo_string240:
	.asciz	"half"                          # string offset=2335
.Linfo_string241:
	.asciz	"a"                             # string offset=2340
.Linfo_string242:
	.asciz	"w"                             # string offset=2342
.Linfo_string243:
	.asciz	"diff"                          # string offset=2344
.Linfo_string244:
	.asciz	"h"                             # string offset=2349
.Linfo_string245:
	.asciz	"scale"                         # string offset=2351
.Linfo_string246:
	.asciz	"decay"                         # string offset=2357
.Linfo_string247:
	.asciz	"l1"                            # string offset=2363
.Linfo_string248:
	.asciz	"rate"                          # string offset=2366
.Linfo_string249:
	.asciz	"momentum"                      # string offset=2371
.Linfo_string250:
	.asciz	"i_end"                         # string offset=2380
.Linfo_string251:
	.asciz	"sign"                          # string offset=2386
.Linfo_string252:
	.asciz	"before"                        # string offset=2391
.Linfo_string253:
	.asciz	"delta"                         # string offset=2398
.Linfo_string254:
	.asciz	"g"                             # string offset=2404
.Linfo_string255:
	.asciz	"keep"                          # string offset=2406
.Linfo_string256:
	.asciz	"s"                             # string offset=2411
.Linfo_string257:
	.asciz	"step"                          # string offset=2413
.Linfo_string258:
	.asciz	"m"                             # string offset=2418
.Linfo_string259:
	.asciz	"v"                             # string offset=2420
.Linfo_string260:
	.asciz	"workers_wanted"                # string offset=2422
.Linfo_string261:
	.asciz	"this"                          # string offset=2437
	.ident	"clang version 22.1.8"
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.addrsig_sym square_sums
	.addrsig_sym _ZL8share_ofii
	.addrsig_sym __ubsan_handle_add_overflow
	.addrsig_sym __ubsan_handle_mul_overflow
	.addrsig_sym __ubsan_handle_pointer_overflow
	.addrsig_sym _ZL9block_sumIZ11square_sumsE3$_0EdPdiT_
	.addrsig_sym _ZL3minIiET_S0_S0_
	.addrsig_sym __ubsan_handle_sub_overflow
	.addrsig_sym __ubsan_handle_type_mismatch_v1
	.addrsig_sym sgd
	.addrsig_sym _ZL8gradientddddi
	.addrsig_sym nesterov
	.addrsig_sym adagrad
	.addrsig_sym rmsprop
	.addrsig_sym adadelta
	.addrsig_sym adam
	.addrsig_sym __ubsan_handle_divrem_overflow
	.addrsig_sym _ZZ11square_sumsENK3$_0clEi
	.addrsig_sym __stack_chk_fail
	.section	.debug_line,"",@progbits
.Lline_table_start0:
