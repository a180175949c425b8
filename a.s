	.file	"a.cpp"
	.text
	.globl	square_sums                     # -- Begin function square_sums
	.p2align	4
	.type	square_sums,@function
square_sums:                            # @square_sums
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
	movl	-2076(%rbp), %eax
	movl	%eax, -2148(%rbp)               # 4-byte Spill
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-2148(%rbp), %edi               # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	movl	%eax, -2108(%rbp)
	movl	-2076(%rbp), %eax
	movl	%eax, -2144(%rbp)               # 4-byte Spill
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
	movl	-2140(%rbp), %eax               # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_1(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB0_2:
	movl	-2136(%rbp), %esi               # 4-byte Reload
	movl	-2144(%rbp), %edi               # 4-byte Reload
	callq	_ZL8share_ofii
	movl	%eax, -2112(%rbp)
.LBB0_3:                                # =>This Loop Header: Depth=1
                                        #     Child Loop BB0_13 Depth 2
	movl	-2108(%rbp), %eax
	cmpl	-2112(%rbp), %eax
	jge	.LBB0_26
# %bb.4:                                #   in Loop: Header=BB0_3 Depth=1
	movq	-2088(%rbp), %rax
	movq	%rax, -2168(%rbp)               # 8-byte Spill
	movl	-2108(%rbp), %eax
	movl	%eax, -2160(%rbp)               # 4-byte Spill
	movl	-2104(%rbp), %ecx
	movl	%ecx, -2156(%rbp)               # 4-byte Spill
	imull	%ecx, %eax
	movl	%eax, -2152(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_6
# %bb.5:                                #   in Loop: Header=BB0_3 Depth=1
	movl	-2156(%rbp), %eax               # 4-byte Reload
	movl	-2160(%rbp), %ecx               # 4-byte Reload
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_2(%rip), %rdi
	callq	__ubsan_handle_mul_overflow@PLT
.LBB0_6:                                #   in Loop: Header=BB0_3 Depth=1
	movq	-2168(%rbp), %rsi               # 8-byte Reload
	movl	-2152(%rbp), %eax               # 4-byte Reload
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
	movq	-2192(%rbp), %rdx               # 8-byte Reload
	movq	-2176(%rbp), %rsi               # 8-byte Reload
	leaq	.L__unnamed_3(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB0_8:                                #   in Loop: Header=BB0_3 Depth=1
	movq	-2184(%rbp), %rax               # 8-byte Reload
	movq	%rax, -2072(%rbp)
	leaq	-2064(%rbp), %rax
	movq	%rax, -2224(%rbp)               # 8-byte Spill
	movl	-2104(%rbp), %eax
	movl	%eax, -2212(%rbp)               # 4-byte Spill
	movl	-2100(%rbp), %eax
	movl	%eax, -2208(%rbp)               # 4-byte Spill
	movl	-2108(%rbp), %eax
	movl	%eax, -2204(%rbp)               # 4-byte Spill
	movl	-2104(%rbp), %ecx
	movl	%ecx, -2200(%rbp)               # 4-byte Spill
	imull	%ecx, %eax
	movl	%eax, -2196(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_10
# %bb.9:                                #   in Loop: Header=BB0_3 Depth=1
	movl	-2200(%rbp), %eax               # 4-byte Reload
	movl	-2204(%rbp), %ecx               # 4-byte Reload
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_4(%rip), %rdi
	callq	__ubsan_handle_mul_overflow@PLT
.LBB0_10:                               #   in Loop: Header=BB0_3 Depth=1
	movl	-2196(%rbp), %ecx               # 4-byte Reload
	movl	-2208(%rbp), %eax               # 4-byte Reload
	subl	%ecx, %eax
	movl	%eax, -2228(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_12
# %bb.11:                               #   in Loop: Header=BB0_3 Depth=1
	movl	-2196(%rbp), %eax               # 4-byte Reload
	movl	-2208(%rbp), %ecx               # 4-byte Reload
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_5(%rip), %rdi
	callq	__ubsan_handle_sub_overflow@PLT
.LBB0_12:                               #   in Loop: Header=BB0_3 Depth=1
	movl	-2228(%rbp), %esi               # 4-byte Reload
	movl	-2212(%rbp), %edi               # 4-byte Reload
	callq	_ZL3minIiET_S0_S0_
	movq	-2224(%rbp), %rdi               # 8-byte Reload
	movl	%eax, %esi
	leaq	-2072(%rbp), %rax
	movq	%rax, -2128(%rbp)
	movq	-2128(%rbp), %rdx
	callq	_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_
	vmovsd	%xmm0, -2120(%rbp)
	movl	$0, -2132(%rbp)
.LBB0_13:                               #   Parent Loop BB0_3 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
	cmpl	$1, -2132(%rbp)
	jge	.LBB0_22
# %bb.14:                               #   in Loop: Header=BB0_13 Depth=2
	vmovsd	-2120(%rbp), %xmm0              # xmm0 = mem[0],zero
	vmovsd	%xmm0, -2264(%rbp)              # 8-byte Spill
	movq	-2096(%rbp), %rsi
	movq	%rsi, -2256(%rbp)               # 8-byte Spill
	movslq	-2108(%rbp), %rdi
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
	movq	-2248(%rbp), %rdx               # 8-byte Reload
	movq	-2256(%rbp), %rsi               # 8-byte Reload
	leaq	.L__unnamed_6(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB0_16:                               #   in Loop: Header=BB0_13 Depth=2
	movq	-2240(%rbp), %rcx               # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB0_18
# %bb.17:                               #   in Loop: Header=BB0_13 Depth=2
	movq	-2240(%rbp), %rsi               # 8-byte Reload
	leaq	.L__unnamed_7(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB0_18:                               #   in Loop: Header=BB0_13 Depth=2
	movq	-2240(%rbp), %rax               # 8-byte Reload
	vmovsd	-2264(%rbp), %xmm0              # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	%xmm0, (%rax)
# %bb.19:                               #   in Loop: Header=BB0_13 Depth=2
	movl	-2132(%rbp), %eax
	movl	%eax, -2272(%rbp)               # 4-byte Spill
	incl	%eax
	movl	%eax, -2268(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_21
# %bb.20:                               #   in Loop: Header=BB0_13 Depth=2
	movl	-2272(%rbp), %eax               # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_8(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB0_21:                               #   in Loop: Header=BB0_13 Depth=2
	movl	-2268(%rbp), %eax               # 4-byte Reload
	movl	%eax, -2132(%rbp)
	jmp	.LBB0_13
.LBB0_22:                               #   in Loop: Header=BB0_3 Depth=1
	jmp	.LBB0_23
.LBB0_23:                               #   in Loop: Header=BB0_3 Depth=1
	movl	-2108(%rbp), %eax
	movl	%eax, -2280(%rbp)               # 4-byte Spill
	incl	%eax
	movl	%eax, -2276(%rbp)               # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB0_25
# %bb.24:                               #   in Loop: Header=BB0_3 Depth=1
	movl	-2280(%rbp), %eax               # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_9(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB0_25:                               #   in Loop: Header=BB0_3 Depth=1
	movl	-2276(%rbp), %eax               # 4-byte Reload
	movl	%eax, -2108(%rbp)
	jmp	.LBB0_3
.LBB0_26:
	movq	%fs:40, %rax
	movq	-8(%rbp), %rcx
	cmpq	%rcx, %rax
	jne	.LBB0_28
# %bb.27:
	addq	$2288, %rsp                     # imm = 0x8F0
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.LBB0_28:
	.cfi_def_cfa %rbp, 16
	callq	__stack_chk_fail@PLT
.Lfunc_end0:
	.size	square_sums, .Lfunc_end0-square_sums
	.cfi_endproc
                                        # -- End function
	.p2align	4                               # -- Begin function _ZL8share_ofii
	.type	_ZL8share_ofii,@function
_ZL8share_ofii:                         # @_ZL8share_ofii
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
	movslq	-4(%rbp), %rax
	movq	%rax, -32(%rbp)                 # 8-byte Spill
	movslq	-8(%rbp), %rcx
	movq	%rcx, -24(%rbp)                 # 8-byte Spill
	imulq	%rcx, %rax
	movq	%rax, -16(%rbp)                 # 8-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB1_2
# %bb.1:
	movq	-24(%rbp), %rdx                 # 8-byte Reload
	movq	-32(%rbp), %rsi                 # 8-byte Reload
	leaq	.L__unnamed_10(%rip), %rdi
	callq	__ubsan_handle_mul_overflow@PLT
.LBB1_2:
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movq	-16(%rbp), %rcx                 # 8-byte Reload
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	movslq	(%rax), %rdx
	movq	%rdx, -40(%rbp)                 # 8-byte Spill
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
	movq	-40(%rbp), %rdx                 # 8-byte Reload
	movq	-16(%rbp), %rsi                 # 8-byte Reload
	leaq	.L__unnamed_11(%rip), %rdi
	callq	__ubsan_handle_divrem_overflow@PLT
.LBB1_4:
	movq	-40(%rbp), %rcx                 # 8-byte Reload
	movq	-16(%rbp), %rax                 # 8-byte Reload
	cqto
	idivq	%rcx
                                        # kill: def $eax killed $eax killed $rax
	addq	$48, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end1:
	.size	_ZL8share_ofii, .Lfunc_end1-_ZL8share_ofii
	.cfi_endproc
                                        # -- End function
	.p2align	4                               # -- Begin function _ZL9block_sumIZ11square_sumsE3$_0EdPdiT_
	.type	_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_,@function
_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_: # @"_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_"
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
	movl	$256, -32(%rbp)                 # imm = 0x100
.LBB2_1:                                # =>This Inner Loop Header: Depth=1
	movl	-32(%rbp), %eax
	movl	%eax, -68(%rbp)                 # 4-byte Spill
	cmpl	$-2147483648, %eax              # imm = 0x80000000
	setne	%al
	orb	$-1, %al
	andb	$1, %al
	testb	$1, %al
	jne	.LBB2_3
# %bb.2:                                #   in Loop: Header=BB2_1 Depth=1
	movl	-68(%rbp), %eax                 # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_12(%rip), %rdi
	movl	$2, %edx
	callq	__ubsan_handle_divrem_overflow@PLT
.LBB2_3:                                #   in Loop: Header=BB2_1 Depth=1
	movl	-68(%rbp), %eax                 # 4-byte Reload
	movl	$2, %ecx
	cltd
	idivl	%ecx
	movl	%eax, %ecx
	xorl	%eax, %eax
                                        # kill: def $al killed $al killed $eax
	cmpl	-28(%rbp), %ecx
	movb	%al, -69(%rbp)                  # 1-byte Spill
	jl	.LBB2_5
# %bb.4:                                #   in Loop: Header=BB2_1 Depth=1
	cmpl	$1, -32(%rbp)
	setg	%al
	movb	%al, -69(%rbp)                  # 1-byte Spill
.LBB2_5:                                #   in Loop: Header=BB2_1 Depth=1
	movb	-69(%rbp), %al                  # 1-byte Reload
	testb	$1, %al
	jne	.LBB2_6
	jmp	.LBB2_9
.LBB2_6:                                #   in Loop: Header=BB2_1 Depth=1
	movl	-32(%rbp), %eax
	movl	%eax, -76(%rbp)                 # 4-byte Spill
	cmpl	$-2147483648, %eax              # imm = 0x80000000
	setne	%al
	orb	$-1, %al
	andb	$1, %al
	testb	$1, %al
	jne	.LBB2_8
# %bb.7:                                #   in Loop: Header=BB2_1 Depth=1
	movl	-76(%rbp), %eax                 # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_13(%rip), %rdi
	movl	$2, %edx
	callq	__ubsan_handle_divrem_overflow@PLT
.LBB2_8:                                #   in Loop: Header=BB2_1 Depth=1
	movl	-76(%rbp), %eax                 # 4-byte Reload
	movl	$2, %ecx
	cltd
	idivl	%ecx
	movl	%eax, -32(%rbp)
	jmp	.LBB2_1
.LBB2_9:
	movl	$0, -36(%rbp)
.LBB2_10:                               # =>This Inner Loop Header: Depth=1
	movl	-36(%rbp), %eax
	cmpl	-32(%rbp), %eax
	jge	.LBB2_19
# %bb.11:                               #   in Loop: Header=BB2_10 Depth=1
	movq	-24(%rbp), %rsi
	movq	%rsi, -104(%rbp)                # 8-byte Spill
	movslq	-36(%rbp), %rdi
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
	movq	-96(%rbp), %rdx                 # 8-byte Reload
	movq	-104(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_14(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB2_13:                               #   in Loop: Header=BB2_10 Depth=1
	movq	-88(%rbp), %rcx                 # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_15
# %bb.14:                               #   in Loop: Header=BB2_10 Depth=1
	movq	-88(%rbp), %rsi                 # 8-byte Reload
	leaq	.L__unnamed_15(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB2_15:                               #   in Loop: Header=BB2_10 Depth=1
	movq	-88(%rbp), %rax                 # 8-byte Reload
	vpxor	%xmm0, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.16:                               #   in Loop: Header=BB2_10 Depth=1
	movl	-36(%rbp), %eax
	movl	%eax, -112(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -108(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_18
# %bb.17:                               #   in Loop: Header=BB2_10 Depth=1
	movl	-112(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_16(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_18:                               #   in Loop: Header=BB2_10 Depth=1
	movl	-108(%rbp), %eax                # 4-byte Reload
	movl	%eax, -36(%rbp)
	jmp	.LBB2_10
.LBB2_19:
	movl	$0, -40(%rbp)
.LBB2_20:                               # =>This Loop Header: Depth=1
                                        #     Child Loop BB2_22 Depth 2
	movl	-40(%rbp), %eax
	cmpl	-28(%rbp), %eax
	jge	.LBB2_39
# %bb.21:                               #   in Loop: Header=BB2_20 Depth=1
	movl	$0, -44(%rbp)
.LBB2_22:                               #   Parent Loop BB2_20 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
	movl	-44(%rbp), %eax
	movl	%eax, -128(%rbp)                # 4-byte Spill
	movl	-28(%rbp), %eax
	movl	%eax, -124(%rbp)                # 4-byte Spill
	movl	-40(%rbp), %ecx
	movl	%ecx, -120(%rbp)                # 4-byte Spill
	subl	%ecx, %eax
	movl	%eax, -116(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_24
# %bb.23:                               #   in Loop: Header=BB2_22 Depth=2
	movl	-120(%rbp), %eax                # 4-byte Reload
	movl	-124(%rbp), %ecx                # 4-byte Reload
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_17(%rip), %rdi
	callq	__ubsan_handle_sub_overflow@PLT
.LBB2_24:                               #   in Loop: Header=BB2_22 Depth=2
	movl	-116(%rbp), %esi                # 4-byte Reload
	movl	$256, %edi                      # imm = 0x100
	callq	_ZL3minIiET_S0_S0_
	movl	%eax, %ecx
	movl	-128(%rbp), %eax                # 4-byte Reload
	cmpl	%ecx, %eax
	jge	.LBB2_35
# %bb.25:                               #   in Loop: Header=BB2_22 Depth=2
	movl	-40(%rbp), %eax
	movl	%eax, -140(%rbp)                # 4-byte Spill
	movl	-44(%rbp), %ecx
	movl	%ecx, -136(%rbp)                # 4-byte Spill
	addl	%ecx, %eax
	movl	%eax, -132(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_27
# %bb.26:                               #   in Loop: Header=BB2_22 Depth=2
	movl	-136(%rbp), %eax                # 4-byte Reload
	movl	-140(%rbp), %ecx                # 4-byte Reload
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_18(%rip), %rdi
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_27:                               #   in Loop: Header=BB2_22 Depth=2
	movl	-132(%rbp), %esi                # 4-byte Reload
	leaq	-16(%rbp), %rdi
	callq	_ZZ11square_sumsENK3$_0clEi
	vmovsd	%xmm0, -176(%rbp)               # 8-byte Spill
	movq	-24(%rbp), %rsi
	movq	%rsi, -168(%rbp)                # 8-byte Spill
	movslq	-44(%rbp), %rdi
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
	movq	-160(%rbp), %rdx                # 8-byte Reload
	movq	-168(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_19(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB2_29:                               #   in Loop: Header=BB2_22 Depth=2
	movq	-152(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_31
# %bb.30:                               #   in Loop: Header=BB2_22 Depth=2
	movq	-152(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_20(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB2_31:                               #   in Loop: Header=BB2_22 Depth=2
	movq	-152(%rbp), %rax                # 8-byte Reload
	vmovsd	-176(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vaddsd	(%rax), %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.32:                               #   in Loop: Header=BB2_22 Depth=2
	movl	-44(%rbp), %eax
	movl	%eax, -184(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -180(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_34
# %bb.33:                               #   in Loop: Header=BB2_22 Depth=2
	movl	-184(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_21(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_34:                               #   in Loop: Header=BB2_22 Depth=2
	movl	-180(%rbp), %eax                # 4-byte Reload
	movl	%eax, -44(%rbp)
	jmp	.LBB2_22
.LBB2_35:                               #   in Loop: Header=BB2_20 Depth=1
	jmp	.LBB2_36
.LBB2_36:                               #   in Loop: Header=BB2_20 Depth=1
	movl	-40(%rbp), %eax
	movl	%eax, -192(%rbp)                # 4-byte Spill
	addl	$256, %eax                      # imm = 0x100
	movl	%eax, -188(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_38
# %bb.37:                               #   in Loop: Header=BB2_20 Depth=1
	movl	-192(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_22(%rip), %rdi
	movl	$256, %edx                      # imm = 0x100
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_38:                               #   in Loop: Header=BB2_20 Depth=1
	movl	-188(%rbp), %eax                # 4-byte Reload
	movl	%eax, -40(%rbp)
	jmp	.LBB2_20
.LBB2_39:
	movl	-32(%rbp), %eax
	movl	%eax, -196(%rbp)                # 4-byte Spill
	cmpl	$-2147483648, %eax              # imm = 0x80000000
	setne	%al
	orb	$-1, %al
	andb	$1, %al
	testb	$1, %al
	jne	.LBB2_41
# %bb.40:
	movl	-196(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_23(%rip), %rdi
	movl	$2, %edx
	callq	__ubsan_handle_divrem_overflow@PLT
.LBB2_41:
	movl	-196(%rbp), %eax                # 4-byte Reload
	movl	$2, %ecx
	cltd
	idivl	%ecx
	movl	%eax, -48(%rbp)
.LBB2_42:                               # =>This Loop Header: Depth=1
                                        #     Child Loop BB2_44 Depth 2
	cmpl	$0, -48(%rbp)
	jle	.LBB2_63
# %bb.43:                               #   in Loop: Header=BB2_42 Depth=1
	movl	$0, -52(%rbp)
.LBB2_44:                               #   Parent Loop BB2_42 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
	movl	-52(%rbp), %eax
	cmpl	-48(%rbp), %eax
	jge	.LBB2_59
# %bb.45:                               #   in Loop: Header=BB2_44 Depth=2
	movq	-24(%rbp), %rax
	movq	%rax, -216(%rbp)                # 8-byte Spill
	movl	-52(%rbp), %eax
	movl	%eax, -208(%rbp)                # 4-byte Spill
	movl	-48(%rbp), %ecx
	movl	%ecx, -204(%rbp)                # 4-byte Spill
	addl	%ecx, %eax
	movl	%eax, -200(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_47
# %bb.46:                               #   in Loop: Header=BB2_44 Depth=2
	movl	-204(%rbp), %eax                # 4-byte Reload
	movl	-208(%rbp), %ecx                # 4-byte Reload
	movl	%ecx, %ecx
	movl	%ecx, %esi
	movl	%eax, %eax
	movl	%eax, %edx
	leaq	.L__unnamed_24(%rip), %rdi
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_47:                               #   in Loop: Header=BB2_44 Depth=2
	movq	-216(%rbp), %rsi                # 8-byte Reload
	movl	-200(%rbp), %eax                # 4-byte Reload
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
	movq	-240(%rbp), %rdx                # 8-byte Reload
	movq	-224(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_25(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB2_49:                               #   in Loop: Header=BB2_44 Depth=2
	movq	-232(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_51
# %bb.50:                               #   in Loop: Header=BB2_44 Depth=2
	movq	-232(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_26(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB2_51:                               #   in Loop: Header=BB2_44 Depth=2
	movq	-232(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -272(%rbp)               # 8-byte Spill
	movq	-24(%rbp), %rsi
	movq	%rsi, -264(%rbp)                # 8-byte Spill
	movslq	-52(%rbp), %rdi
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
	movq	-256(%rbp), %rdx                # 8-byte Reload
	movq	-264(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_27(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB2_53:                               #   in Loop: Header=BB2_44 Depth=2
	movq	-248(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB2_55
# %bb.54:                               #   in Loop: Header=BB2_44 Depth=2
	movq	-248(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_28(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB2_55:                               #   in Loop: Header=BB2_44 Depth=2
	movq	-248(%rbp), %rax                # 8-byte Reload
	vmovsd	-272(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vaddsd	(%rax), %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.56:                               #   in Loop: Header=BB2_44 Depth=2
	movl	-52(%rbp), %eax
	movl	%eax, -280(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -276(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB2_58
# %bb.57:                               #   in Loop: Header=BB2_44 Depth=2
	movl	-280(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_29(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB2_58:                               #   in Loop: Header=BB2_44 Depth=2
	movl	-276(%rbp), %eax                # 4-byte Reload
	movl	%eax, -52(%rbp)
	jmp	.LBB2_44
.LBB2_59:                               #   in Loop: Header=BB2_42 Depth=1
	jmp	.LBB2_60
.LBB2_60:                               #   in Loop: Header=BB2_42 Depth=1
	movl	-48(%rbp), %eax
	movl	%eax, -284(%rbp)                # 4-byte Spill
	cmpl	$-2147483648, %eax              # imm = 0x80000000
	setne	%al
	orb	$-1, %al
	andb	$1, %al
	testb	$1, %al
	jne	.LBB2_62
# %bb.61:                               #   in Loop: Header=BB2_42 Depth=1
	movl	-284(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_30(%rip), %rdi
	movl	$2, %edx
	callq	__ubsan_handle_divrem_overflow@PLT
.LBB2_62:                               #   in Loop: Header=BB2_42 Depth=1
	movl	-284(%rbp), %eax                # 4-byte Reload
	movl	$2, %ecx
	cltd
	idivl	%ecx
	movl	%eax, -48(%rbp)
	jmp	.LBB2_42
.LBB2_63:
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
	movq	-296(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_31(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB2_65:
	movq	-296(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -64(%rbp)
	vmovsd	-64(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -304(%rbp)               # 8-byte Spill
	movq	%fs:40, %rax
	movq	-8(%rbp), %rcx
	cmpq	%rcx, %rax
	jne	.LBB2_67
# %bb.66:
	vmovsd	-304(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	addq	$304, %rsp                      # imm = 0x130
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.LBB2_67:
	.cfi_def_cfa %rbp, 16
	callq	__stack_chk_fail@PLT
.Lfunc_end2:
	.size	_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_, .Lfunc_end2-_ZL9block_sumIZ11square_sumsE3$_0EdPdiT_
	.cfi_endproc
                                        # -- End function
	.p2align	4                               # -- Begin function _ZL3minIiET_S0_S0_
	.type	_ZL3minIiET_S0_S0_,@function
_ZL3minIiET_S0_S0_:                     # @_ZL3minIiET_S0_S0_
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
	movl	-8(%rbp), %eax
	cmpl	-4(%rbp), %eax
	jge	.LBB3_2
# %bb.1:
	movl	-8(%rbp), %eax
	movl	%eax, -12(%rbp)                 # 4-byte Spill
	jmp	.LBB3_3
.LBB3_2:
	movl	-4(%rbp), %eax
	movl	%eax, -12(%rbp)                 # 4-byte Spill
.LBB3_3:
	movl	-12(%rbp), %eax                 # 4-byte Reload
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end3:
	.size	_ZL3minIiET_S0_S0_, .Lfunc_end3-_ZL3minIiET_S0_S0_
	.cfi_endproc
                                        # -- End function
	.globl	sgd                             # -- Begin function sgd
	.p2align	4
	.type	sgd,@function
sgd:                                    # @sgd
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
	movl	-4(%rbp), %eax
	movl	%eax, -96(%rbp)                 # 4-byte Spill
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-96(%rbp), %edi                 # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	movl	%eax, -76(%rbp)
	movl	-4(%rbp), %eax
	movl	%eax, -92(%rbp)                 # 4-byte Spill
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
	movl	-88(%rbp), %eax                 # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_32(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB4_2:
	movl	-84(%rbp), %esi                 # 4-byte Reload
	movl	-92(%rbp), %edi                 # 4-byte Reload
	callq	_ZL8share_ofii
	movl	%eax, -80(%rbp)
.LBB4_3:                                # =>This Inner Loop Header: Depth=1
	movl	-76(%rbp), %eax
	cmpl	-80(%rbp), %eax
	jge	.LBB4_32
# %bb.4:                                #   in Loop: Header=BB4_3 Depth=1
	vmovsd	-64(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -128(%rbp)               # 8-byte Spill
	movq	-24(%rbp), %rsi
	movq	%rsi, -120(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-112(%rbp), %rdx                # 8-byte Reload
	movq	-120(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_33(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_6:                                #   in Loop: Header=BB4_3 Depth=1
	movq	-104(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_8
# %bb.7:                                #   in Loop: Header=BB4_3 Depth=1
	movq	-104(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_34(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_8:                                #   in Loop: Header=BB4_3 Depth=1
	movq	-104(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -160(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -152(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-144(%rbp), %rdx                # 8-byte Reload
	movq	-152(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_35(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_10:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-136(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_12
# %bb.11:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-136(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_36(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_12:                               #   in Loop: Header=BB4_3 Depth=1
	vmovsd	-160(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-136(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	vmovsd	-40(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-48(%rbp), %xmm3                # xmm3 = mem[0],zero
	movl	-52(%rbp), %edi
	callq	_ZL8gradientddddi
	vmovsd	%xmm0, -200(%rbp)               # 8-byte Spill
	vmovsd	-72(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -192(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -184(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-176(%rbp), %rdx                # 8-byte Reload
	movq	-184(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_37(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_14:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-168(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_16
# %bb.15:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-168(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_38(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_16:                               #   in Loop: Header=BB4_3 Depth=1
	vmovsd	-128(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	-200(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	-192(%rbp), %xmm2               # 8-byte Reload
                                        # xmm2 = mem[0],zero
	movq	-168(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm3                   # xmm3 = mem[0],zero
	vmulsd	%xmm3, %xmm2, %xmm2
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -232(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -224(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-216(%rbp), %rdx                # 8-byte Reload
	movq	-224(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_39(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_18:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-208(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_20
# %bb.19:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-208(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_40(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_20:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-208(%rbp), %rax                # 8-byte Reload
	vmovsd	-232(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	%xmm0, (%rax)
	movq	-32(%rbp), %rsi
	movq	%rsi, -256(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-248(%rbp), %rdx                # 8-byte Reload
	movq	-256(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_41(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_22:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-240(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_24
# %bb.23:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-240(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_42(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_24:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-240(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -288(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -280(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-272(%rbp), %rdx                # 8-byte Reload
	movq	-280(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_43(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB4_26:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-264(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB4_28
# %bb.27:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-264(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_44(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB4_28:                               #   in Loop: Header=BB4_3 Depth=1
	movq	-264(%rbp), %rax                # 8-byte Reload
	vmovsd	-288(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vsubsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.29:                               #   in Loop: Header=BB4_3 Depth=1
	movl	-76(%rbp), %eax
	movl	%eax, -296(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -292(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB4_31
# %bb.30:                               #   in Loop: Header=BB4_3 Depth=1
	movl	-296(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_45(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB4_31:                               #   in Loop: Header=BB4_3 Depth=1
	movl	-292(%rbp), %eax                # 4-byte Reload
	movl	%eax, -76(%rbp)
	jmp	.LBB4_3
.LBB4_32:
	addq	$304, %rsp                      # imm = 0x130
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
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
	vmovsd	-16(%rbp), %xmm0                # xmm0 = mem[0],zero
	vpxor	%xmm1, %xmm1, %xmm1
	vucomisd	%xmm1, %xmm0
	jbe	.LBB5_2
# %bb.1:
	vmovsd	.LCPI5_1(%rip), %xmm0           # xmm0 = [1.0E+0,0.0E+0]
	vmovsd	%xmm0, -56(%rbp)                # 8-byte Spill
	jmp	.LBB5_3
.LBB5_2:
	vmovsd	-16(%rbp), %xmm1                # xmm1 = mem[0],zero
	vmovsd	.LCPI5_0(%rip), %xmm2           # xmm2 = [-1.0E+0,0.0E+0]
	vpxor	%xmm0, %xmm0, %xmm0
	vcmpltsd	%xmm0, %xmm1, %k1
                                        # implicit-def: $xmm1
	vmovsd	%xmm2, %xmm1, %xmm0 {%k1}
	vmovsd	%xmm0, -56(%rbp)                # 8-byte Spill
.LBB5_3:
	vmovsd	-56(%rbp), %xmm0                # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	%xmm0, -48(%rbp)
	vmovsd	-8(%rbp), %xmm0                 # xmm0 = mem[0],zero
	vmovsd	%xmm0, -80(%rbp)                # 8-byte Spill
	vmovsd	-24(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -72(%rbp)                # 8-byte Spill
	vmovsd	-32(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -64(%rbp)                # 8-byte Spill
	cmpl	$0, -36(%rbp)
	je	.LBB5_5
# %bb.4:
	vmovsd	-48(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -88(%rbp)                # 8-byte Spill
	jmp	.LBB5_6
.LBB5_5:
	vmovsd	-16(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -88(%rbp)                # 8-byte Spill
.LBB5_6:
	vmovsd	-80(%rbp), %xmm1                # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	-72(%rbp), %xmm0                # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	-64(%rbp), %xmm2                # 8-byte Reload
                                        # xmm2 = mem[0],zero
	vmovsd	-88(%rbp), %xmm3                # 8-byte Reload
                                        # xmm3 = mem[0],zero
	vmulsd	%xmm3, %xmm2, %xmm2
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
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
	movl	-4(%rbp), %eax
	movl	%eax, -104(%rbp)                # 4-byte Spill
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-104(%rbp), %edi                # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	movl	%eax, -76(%rbp)
	movl	-4(%rbp), %eax
	movl	%eax, -100(%rbp)                # 4-byte Spill
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
	movl	-96(%rbp), %eax                 # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_46(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB6_2:
	movl	-92(%rbp), %esi                 # 4-byte Reload
	movl	-100(%rbp), %edi                # 4-byte Reload
	callq	_ZL8share_ofii
	movl	%eax, -80(%rbp)
.LBB6_3:                                # =>This Inner Loop Header: Depth=1
	movl	-76(%rbp), %eax
	cmpl	-80(%rbp), %eax
	jge	.LBB6_32
# %bb.4:                                #   in Loop: Header=BB6_3 Depth=1
	movq	-32(%rbp), %rsi
	movq	%rsi, -128(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-120(%rbp), %rdx                # 8-byte Reload
	movq	-128(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_47(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_6:                                #   in Loop: Header=BB6_3 Depth=1
	movq	-112(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_8
# %bb.7:                                #   in Loop: Header=BB6_3 Depth=1
	movq	-112(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_48(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_8:                                #   in Loop: Header=BB6_3 Depth=1
	movq	-112(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -88(%rbp)
	vmovsd	-64(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -160(%rbp)               # 8-byte Spill
	movq	-24(%rbp), %rsi
	movq	%rsi, -152(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-144(%rbp), %rdx                # 8-byte Reload
	movq	-152(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_49(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_10:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-136(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_12
# %bb.11:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-136(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_50(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_12:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-136(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -192(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -184(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-176(%rbp), %rdx                # 8-byte Reload
	movq	-184(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_51(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_14:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-168(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_16
# %bb.15:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-168(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_52(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_16:                               #   in Loop: Header=BB6_3 Depth=1
	vmovsd	-192(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-168(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	vmovsd	-40(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-48(%rbp), %xmm3                # xmm3 = mem[0],zero
	movl	-52(%rbp), %edi
	callq	_ZL8gradientddddi
	vmovsd	-160(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	-72(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-88(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmulsd	%xmm3, %xmm2, %xmm2
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -224(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -216(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-208(%rbp), %rdx                # 8-byte Reload
	movq	-216(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_53(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_18:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-200(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_20
# %bb.19:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-200(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_54(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_20:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-200(%rbp), %rax                # 8-byte Reload
	vmovsd	-224(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	%xmm0, (%rax)
	vmovsd	-72(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	.LCPI6_0(%rip), %xmm1           # xmm1 = [1.0E+0,0.0E+0]
	vaddsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -256(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -248(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-240(%rbp), %rdx                # 8-byte Reload
	movq	-248(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_55(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_22:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-232(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_24
# %bb.23:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-232(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_56(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_24:                               #   in Loop: Header=BB6_3 Depth=1
	vmovsd	-256(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-232(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	-72(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-88(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmulsd	%xmm3, %xmm2, %xmm2
	vfmsub213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) - xmm2
	vmovsd	%xmm0, -288(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -280(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-272(%rbp), %rdx                # 8-byte Reload
	movq	-280(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_57(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB6_26:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-264(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB6_28
# %bb.27:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-264(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_58(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB6_28:                               #   in Loop: Header=BB6_3 Depth=1
	movq	-264(%rbp), %rax                # 8-byte Reload
	vmovsd	-288(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vsubsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.29:                               #   in Loop: Header=BB6_3 Depth=1
	movl	-76(%rbp), %eax
	movl	%eax, -296(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -292(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB6_31
# %bb.30:                               #   in Loop: Header=BB6_3 Depth=1
	movl	-296(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_59(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB6_31:                               #   in Loop: Header=BB6_3 Depth=1
	movl	-292(%rbp), %eax                # 4-byte Reload
	movl	%eax, -76(%rbp)
	jmp	.LBB6_3
.LBB6_32:
	addq	$304, %rsp                      # imm = 0x130
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end6:
	.size	nesterov, .Lfunc_end6-nesterov
	.cfi_endproc
                                        # -- End function
	.globl	adagrad                         # -- Begin function adagrad
	.p2align	4
	.type	adagrad,@function
adagrad:                                # @adagrad
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
	movl	-4(%rbp), %eax
	movl	%eax, -104(%rbp)                # 4-byte Spill
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-104(%rbp), %edi                # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	movl	%eax, -76(%rbp)
	movl	-4(%rbp), %eax
	movl	%eax, -100(%rbp)                # 4-byte Spill
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
	movl	-96(%rbp), %eax                 # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_60(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB7_2:
	movl	-92(%rbp), %esi                 # 4-byte Reload
	movl	-100(%rbp), %edi                # 4-byte Reload
	callq	_ZL8share_ofii
	movl	%eax, -80(%rbp)
.LBB7_3:                                # =>This Inner Loop Header: Depth=1
	movl	-76(%rbp), %eax
	cmpl	-80(%rbp), %eax
	jge	.LBB7_28
# %bb.4:                                #   in Loop: Header=BB7_3 Depth=1
	movq	-24(%rbp), %rsi
	movq	%rsi, -128(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-120(%rbp), %rdx                # 8-byte Reload
	movq	-128(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_61(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB7_6:                                #   in Loop: Header=BB7_3 Depth=1
	movq	-112(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_8
# %bb.7:                                #   in Loop: Header=BB7_3 Depth=1
	movq	-112(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_62(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB7_8:                                #   in Loop: Header=BB7_3 Depth=1
	movq	-112(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -160(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -152(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-144(%rbp), %rdx                # 8-byte Reload
	movq	-152(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_63(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB7_10:                               #   in Loop: Header=BB7_3 Depth=1
	movq	-136(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_12
# %bb.11:                               #   in Loop: Header=BB7_3 Depth=1
	movq	-136(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_64(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB7_12:                               #   in Loop: Header=BB7_3 Depth=1
	vmovsd	-160(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-136(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	vmovsd	-40(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-48(%rbp), %xmm3                # xmm3 = mem[0],zero
	movl	-52(%rbp), %edi
	callq	_ZL8gradientddddi
	vmovsd	%xmm0, -88(%rbp)
	vmovsd	-88(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -200(%rbp)               # 8-byte Spill
	vmovsd	%xmm0, -192(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -184(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-176(%rbp), %rdx                # 8-byte Reload
	movq	-184(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_65(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB7_14:                               #   in Loop: Header=BB7_3 Depth=1
	movq	-168(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_16
# %bb.15:                               #   in Loop: Header=BB7_3 Depth=1
	movq	-168(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_66(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB7_16:                               #   in Loop: Header=BB7_3 Depth=1
	movq	-168(%rbp), %rax                # 8-byte Reload
	vmovsd	-192(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	-200(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	(%rax), %xmm2                   # xmm2 = mem[0],zero
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, (%rax)
	vmovsd	-64(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	-88(%rbp), %xmm1                # xmm1 = mem[0],zero
	vmulsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -232(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -224(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-216(%rbp), %rdx                # 8-byte Reload
	movq	-224(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_67(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB7_18:                               #   in Loop: Header=BB7_3 Depth=1
	movq	-208(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_20
# %bb.19:                               #   in Loop: Header=BB7_3 Depth=1
	movq	-208(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_68(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB7_20:                               #   in Loop: Header=BB7_3 Depth=1
	vmovsd	-232(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-208(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm2                   # xmm2 = mem[0],zero
                                        # implicit-def: $xmm1
	vsqrtsd	%xmm2, %xmm1, %xmm1
	vmovsd	-72(%rbp), %xmm2                # xmm2 = mem[0],zero
	vaddsd	%xmm2, %xmm1, %xmm1
	vdivsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -264(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -256(%rbp)                # 8-byte Spill
	movslq	-76(%rbp), %rdi
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
	movq	-248(%rbp), %rdx                # 8-byte Reload
	movq	-256(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_69(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB7_22:                               #   in Loop: Header=BB7_3 Depth=1
	movq	-240(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB7_24
# %bb.23:                               #   in Loop: Header=BB7_3 Depth=1
	movq	-240(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_70(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB7_24:                               #   in Loop: Header=BB7_3 Depth=1
	movq	-240(%rbp), %rax                # 8-byte Reload
	vmovsd	-264(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vsubsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.25:                               #   in Loop: Header=BB7_3 Depth=1
	movl	-76(%rbp), %eax
	movl	%eax, -272(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -268(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB7_27
# %bb.26:                               #   in Loop: Header=BB7_3 Depth=1
	movl	-272(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_71(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB7_27:                               #   in Loop: Header=BB7_3 Depth=1
	movl	-268(%rbp), %eax                # 4-byte Reload
	movl	%eax, -76(%rbp)
	jmp	.LBB7_3
.LBB7_28:
	addq	$272, %rsp                      # imm = 0x110
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
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
	movl	-4(%rbp), %eax
	movl	%eax, -112(%rbp)                # 4-byte Spill
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-112(%rbp), %edi                # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	movl	%eax, -84(%rbp)
	movl	-4(%rbp), %eax
	movl	%eax, -108(%rbp)                # 4-byte Spill
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
	movl	-104(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_72(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB8_2:
	movl	-100(%rbp), %esi                # 4-byte Reload
	movl	-108(%rbp), %edi                # 4-byte Reload
	callq	_ZL8share_ofii
	movl	%eax, -88(%rbp)
.LBB8_3:                                # =>This Inner Loop Header: Depth=1
	movl	-84(%rbp), %eax
	cmpl	-88(%rbp), %eax
	jge	.LBB8_32
# %bb.4:                                #   in Loop: Header=BB8_3 Depth=1
	movq	-24(%rbp), %rsi
	movq	%rsi, -136(%rbp)                # 8-byte Spill
	movslq	-84(%rbp), %rdi
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
	movq	-128(%rbp), %rdx                # 8-byte Reload
	movq	-136(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_73(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_6:                                #   in Loop: Header=BB8_3 Depth=1
	movq	-120(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_8
# %bb.7:                                #   in Loop: Header=BB8_3 Depth=1
	movq	-120(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_74(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_8:                                #   in Loop: Header=BB8_3 Depth=1
	movq	-120(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -168(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -160(%rbp)                # 8-byte Spill
	movslq	-84(%rbp), %rdi
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
	movq	-152(%rbp), %rdx                # 8-byte Reload
	movq	-160(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_75(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_10:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-144(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_12
# %bb.11:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-144(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_76(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_12:                               #   in Loop: Header=BB8_3 Depth=1
	vmovsd	-168(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-144(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	vmovsd	-40(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-48(%rbp), %xmm3                # xmm3 = mem[0],zero
	movl	-52(%rbp), %edi
	callq	_ZL8gradientddddi
	vmovsd	%xmm0, -96(%rbp)
	vmovsd	-80(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -200(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -192(%rbp)                # 8-byte Spill
	movslq	-84(%rbp), %rdi
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
	movq	-184(%rbp), %rdx                # 8-byte Reload
	movq	-192(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_77(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_14:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-176(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_16
# %bb.15:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-176(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_78(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_16:                               #   in Loop: Header=BB8_3 Depth=1
	vmovsd	-200(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-176(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	-80(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	.LCPI8_0(%rip), %xmm2           # xmm2 = [1.0E+0,0.0E+0]
	vsubsd	%xmm3, %xmm2, %xmm2
	vmovsd	-96(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmulsd	%xmm3, %xmm2, %xmm2
	vmulsd	%xmm3, %xmm2, %xmm2
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -232(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -224(%rbp)                # 8-byte Spill
	movslq	-84(%rbp), %rdi
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
	movq	-216(%rbp), %rdx                # 8-byte Reload
	movq	-224(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_79(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_18:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-208(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_20
# %bb.19:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-208(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_80(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_20:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-208(%rbp), %rax                # 8-byte Reload
	vmovsd	-232(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	%xmm0, (%rax)
	vmovsd	-64(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	-96(%rbp), %xmm1                # xmm1 = mem[0],zero
	vmulsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -264(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -256(%rbp)                # 8-byte Spill
	movslq	-84(%rbp), %rdi
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
	movq	-248(%rbp), %rdx                # 8-byte Reload
	movq	-256(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_81(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_22:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-240(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_24
# %bb.23:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-240(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_82(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_24:                               #   in Loop: Header=BB8_3 Depth=1
	vmovsd	-264(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-240(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm2                   # xmm2 = mem[0],zero
                                        # implicit-def: $xmm1
	vsqrtsd	%xmm2, %xmm1, %xmm1
	vmovsd	-72(%rbp), %xmm2                # xmm2 = mem[0],zero
	vaddsd	%xmm2, %xmm1, %xmm1
	vdivsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -296(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -288(%rbp)                # 8-byte Spill
	movslq	-84(%rbp), %rdi
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
	movq	-280(%rbp), %rdx                # 8-byte Reload
	movq	-288(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_83(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB8_26:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-272(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB8_28
# %bb.27:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-272(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_84(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB8_28:                               #   in Loop: Header=BB8_3 Depth=1
	movq	-272(%rbp), %rax                # 8-byte Reload
	vmovsd	-296(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vsubsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.29:                               #   in Loop: Header=BB8_3 Depth=1
	movl	-84(%rbp), %eax
	movl	%eax, -304(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -300(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB8_31
# %bb.30:                               #   in Loop: Header=BB8_3 Depth=1
	movl	-304(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_85(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB8_31:                               #   in Loop: Header=BB8_3 Depth=1
	movl	-300(%rbp), %eax                # 4-byte Reload
	movl	%eax, -84(%rbp)
	jmp	.LBB8_3
.LBB8_32:
	addq	$304, %rsp                      # imm = 0x130
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
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
	movl	-4(%rbp), %eax
	movl	%eax, -128(%rbp)                # 4-byte Spill
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-128(%rbp), %edi                # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	movl	%eax, -92(%rbp)
	movl	-4(%rbp), %eax
	movl	%eax, -124(%rbp)                # 4-byte Spill
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
	movl	-120(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_86(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB9_2:
	movl	-116(%rbp), %esi                # 4-byte Reload
	movl	-124(%rbp), %edi                # 4-byte Reload
	callq	_ZL8share_ofii
	movl	%eax, -96(%rbp)
.LBB9_3:                                # =>This Inner Loop Header: Depth=1
	movl	-92(%rbp), %eax
	cmpl	-96(%rbp), %eax
	jge	.LBB9_44
# %bb.4:                                #   in Loop: Header=BB9_3 Depth=1
	movq	-24(%rbp), %rsi
	movq	%rsi, -152(%rbp)                # 8-byte Spill
	movslq	-92(%rbp), %rdi
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
	movq	-144(%rbp), %rdx                # 8-byte Reload
	movq	-152(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_87(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_6:                                #   in Loop: Header=BB9_3 Depth=1
	movq	-136(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_8
# %bb.7:                                #   in Loop: Header=BB9_3 Depth=1
	movq	-136(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_88(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_8:                                #   in Loop: Header=BB9_3 Depth=1
	movq	-136(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -184(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -176(%rbp)                # 8-byte Spill
	movslq	-92(%rbp), %rdi
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
	movq	-168(%rbp), %rdx                # 8-byte Reload
	movq	-176(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_89(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_10:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-160(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_12
# %bb.11:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-160(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_90(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_12:                               #   in Loop: Header=BB9_3 Depth=1
	vmovsd	-184(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-160(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	vmovsd	-48(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-56(%rbp), %xmm3                # xmm3 = mem[0],zero
	movl	-60(%rbp), %edi
	callq	_ZL8gradientddddi
	vmovsd	%xmm0, -104(%rbp)
	vmovsd	-88(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -216(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -208(%rbp)                # 8-byte Spill
	movslq	-92(%rbp), %rdi
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
	movq	-200(%rbp), %rdx                # 8-byte Reload
	movq	-208(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_91(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_14:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-192(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_16
# %bb.15:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-192(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_92(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_16:                               #   in Loop: Header=BB9_3 Depth=1
	vmovsd	-216(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-192(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	-88(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	.LCPI9_0(%rip), %xmm2           # xmm2 = [1.0E+0,0.0E+0]
	vsubsd	%xmm3, %xmm2, %xmm2
	vmovsd	-104(%rbp), %xmm3               # xmm3 = mem[0],zero
	vmulsd	%xmm3, %xmm2, %xmm2
	vmulsd	%xmm3, %xmm2, %xmm2
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -248(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -240(%rbp)                # 8-byte Spill
	movslq	-92(%rbp), %rdi
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
	movq	-232(%rbp), %rdx                # 8-byte Reload
	movq	-240(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_93(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_18:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-224(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_20
# %bb.19:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-224(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_94(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_20:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-224(%rbp), %rax                # 8-byte Reload
	vmovsd	-248(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	%xmm0, (%rax)
	vmovsd	-104(%rbp), %xmm0               # xmm0 = mem[0],zero
	vmovsd	%xmm0, -288(%rbp)               # 8-byte Spill
	vmovsd	-80(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -280(%rbp)               # 8-byte Spill
	movq	-40(%rbp), %rsi
	movq	%rsi, -272(%rbp)                # 8-byte Spill
	movslq	-92(%rbp), %rdi
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
	movq	-264(%rbp), %rdx                # 8-byte Reload
	movq	-272(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_95(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_22:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-256(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_24
# %bb.23:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-256(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_96(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_24:                               #   in Loop: Header=BB9_3 Depth=1
	vmovsd	-280(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-256(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	vaddsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -328(%rbp)               # 8-byte Spill
	vmovsd	-80(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -320(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -312(%rbp)                # 8-byte Spill
	movslq	-92(%rbp), %rdi
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
	movq	-304(%rbp), %rdx                # 8-byte Reload
	movq	-312(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_97(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_26:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-296(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_28
# %bb.27:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-296(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_98(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_28:                               #   in Loop: Header=BB9_3 Depth=1
	vmovsd	-288(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	-328(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	-320(%rbp), %xmm2               # 8-byte Reload
                                        # xmm2 = mem[0],zero
	movq	-296(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm3                   # xmm3 = mem[0],zero
	vaddsd	%xmm3, %xmm2, %xmm2
	vdivsd	%xmm2, %xmm1, %xmm2
                                        # implicit-def: $xmm1
	vsqrtsd	%xmm2, %xmm1, %xmm1
	vmulsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -112(%rbp)
	vmovsd	-88(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -360(%rbp)               # 8-byte Spill
	movq	-40(%rbp), %rsi
	movq	%rsi, -352(%rbp)                # 8-byte Spill
	movslq	-92(%rbp), %rdi
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
	movq	-344(%rbp), %rdx                # 8-byte Reload
	movq	-352(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_99(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_30:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-336(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_32
# %bb.31:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-336(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_100(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_32:                               #   in Loop: Header=BB9_3 Depth=1
	vmovsd	-360(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-336(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	-88(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	.LCPI9_0(%rip), %xmm2           # xmm2 = [1.0E+0,0.0E+0]
	vsubsd	%xmm3, %xmm2, %xmm2
	vmovsd	-112(%rbp), %xmm3               # xmm3 = mem[0],zero
	vmulsd	%xmm3, %xmm2, %xmm2
	vmulsd	%xmm3, %xmm2, %xmm2
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -392(%rbp)               # 8-byte Spill
	movq	-40(%rbp), %rsi
	movq	%rsi, -384(%rbp)                # 8-byte Spill
	movslq	-92(%rbp), %rdi
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
	movq	-376(%rbp), %rdx                # 8-byte Reload
	movq	-384(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_101(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_34:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-368(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_36
# %bb.35:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-368(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_102(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_36:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-368(%rbp), %rax                # 8-byte Reload
	vmovsd	-392(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	%xmm0, (%rax)
	vmovsd	-72(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -432(%rbp)               # 8-byte Spill
	vmovsd	-112(%rbp), %xmm0               # xmm0 = mem[0],zero
	vmovsd	%xmm0, -424(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -416(%rbp)                # 8-byte Spill
	movslq	-92(%rbp), %rdi
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
	movq	-408(%rbp), %rdx                # 8-byte Reload
	movq	-416(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_103(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB9_38:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-400(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB9_40
# %bb.39:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-400(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_104(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB9_40:                               #   in Loop: Header=BB9_3 Depth=1
	movq	-400(%rbp), %rax                # 8-byte Reload
	vmovsd	-424(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	-432(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	(%rax), %xmm2                   # xmm2 = mem[0],zero
	vmovq	%xmm1, %rcx
	movabsq	$-9223372036854775808, %rdx     # imm = 0x8000000000000000
	xorq	%rdx, %rcx
	vmovq	%rcx, %xmm1
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, (%rax)
# %bb.41:                               #   in Loop: Header=BB9_3 Depth=1
	movl	-92(%rbp), %eax
	movl	%eax, -440(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -436(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB9_43
# %bb.42:                               #   in Loop: Header=BB9_3 Depth=1
	movl	-440(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_105(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB9_43:                               #   in Loop: Header=BB9_3 Depth=1
	movl	-436(%rbp), %eax                # 4-byte Reload
	movl	%eax, -92(%rbp)
	jmp	.LBB9_3
.LBB9_44:
	addq	$448, %rsp                      # imm = 0x1C0
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
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
	movl	-4(%rbp), %eax
	movl	%eax, -128(%rbp)                # 4-byte Spill
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	movl	-128(%rbp), %edi                # 4-byte Reload
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	(%rax), %esi
	callq	_ZL8share_ofii
	movl	%eax, -100(%rbp)
	movl	-4(%rbp), %eax
	movl	%eax, -124(%rbp)                # 4-byte Spill
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
	movl	-120(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_106(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB10_2:
	movl	-116(%rbp), %esi                # 4-byte Reload
	movl	-124(%rbp), %edi                # 4-byte Reload
	callq	_ZL8share_ofii
	movl	%eax, -104(%rbp)
.LBB10_3:                               # =>This Inner Loop Header: Depth=1
	movl	-100(%rbp), %eax
	cmpl	-104(%rbp), %eax
	jge	.LBB10_44
# %bb.4:                                #   in Loop: Header=BB10_3 Depth=1
	movq	-24(%rbp), %rsi
	movq	%rsi, -152(%rbp)                # 8-byte Spill
	movslq	-100(%rbp), %rdi
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
	movq	-144(%rbp), %rdx                # 8-byte Reload
	movq	-152(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_107(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_6:                               #   in Loop: Header=BB10_3 Depth=1
	movq	-136(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_8
# %bb.7:                                #   in Loop: Header=BB10_3 Depth=1
	movq	-136(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_108(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_8:                               #   in Loop: Header=BB10_3 Depth=1
	movq	-136(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -184(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -176(%rbp)                # 8-byte Spill
	movslq	-100(%rbp), %rdi
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
	movq	-168(%rbp), %rdx                # 8-byte Reload
	movq	-176(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_109(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_10:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-160(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_12
# %bb.11:                               #   in Loop: Header=BB10_3 Depth=1
	movq	-160(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_110(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_12:                              #   in Loop: Header=BB10_3 Depth=1
	vmovsd	-184(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-160(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	vmovsd	-48(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-56(%rbp), %xmm3                # xmm3 = mem[0],zero
	movl	-60(%rbp), %edi
	callq	_ZL8gradientddddi
	vmovsd	%xmm0, -112(%rbp)
	vmovsd	-88(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -216(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -208(%rbp)                # 8-byte Spill
	movslq	-100(%rbp), %rdi
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
	movq	-200(%rbp), %rdx                # 8-byte Reload
	movq	-208(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_111(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_14:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-192(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_16
# %bb.15:                               #   in Loop: Header=BB10_3 Depth=1
	movq	-192(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_112(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_16:                              #   in Loop: Header=BB10_3 Depth=1
	vmovsd	-216(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-192(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	-88(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	.LCPI10_0(%rip), %xmm2          # xmm2 = [1.0E+0,0.0E+0]
	vsubsd	%xmm3, %xmm2, %xmm2
	vmovsd	-112(%rbp), %xmm3               # xmm3 = mem[0],zero
	vmulsd	%xmm3, %xmm2, %xmm2
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -248(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -240(%rbp)                # 8-byte Spill
	movslq	-100(%rbp), %rdi
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
	movq	-232(%rbp), %rdx                # 8-byte Reload
	movq	-240(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_113(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_18:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-224(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_20
# %bb.19:                               #   in Loop: Header=BB10_3 Depth=1
	movq	-224(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_114(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_20:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-224(%rbp), %rax                # 8-byte Reload
	vmovsd	-248(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	%xmm0, (%rax)
	vmovsd	-96(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -280(%rbp)               # 8-byte Spill
	movq	-40(%rbp), %rsi
	movq	%rsi, -272(%rbp)                # 8-byte Spill
	movslq	-100(%rbp), %rdi
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
	movq	-264(%rbp), %rdx                # 8-byte Reload
	movq	-272(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_115(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_22:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-256(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_24
# %bb.23:                               #   in Loop: Header=BB10_3 Depth=1
	movq	-256(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_116(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_24:                              #   in Loop: Header=BB10_3 Depth=1
	vmovsd	-280(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	movq	-256(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	-96(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	.LCPI10_0(%rip), %xmm2          # xmm2 = [1.0E+0,0.0E+0]
	vsubsd	%xmm3, %xmm2, %xmm2
	vmovsd	-112(%rbp), %xmm3               # xmm3 = mem[0],zero
	vmulsd	%xmm3, %xmm2, %xmm2
	vmulsd	%xmm3, %xmm2, %xmm2
	vfmadd213sd	%xmm2, %xmm1, %xmm0     # xmm0 = (xmm1 * xmm0) + xmm2
	vmovsd	%xmm0, -312(%rbp)               # 8-byte Spill
	movq	-40(%rbp), %rsi
	movq	%rsi, -304(%rbp)                # 8-byte Spill
	movslq	-100(%rbp), %rdi
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
	movq	-296(%rbp), %rdx                # 8-byte Reload
	movq	-304(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_117(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_26:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-288(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_28
# %bb.27:                               #   in Loop: Header=BB10_3 Depth=1
	movq	-288(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_118(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_28:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-288(%rbp), %rax                # 8-byte Reload
	vmovsd	-312(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	vmovsd	%xmm0, (%rax)
	vmovsd	-72(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	%xmm0, -344(%rbp)               # 8-byte Spill
	movq	-32(%rbp), %rsi
	movq	%rsi, -336(%rbp)                # 8-byte Spill
	movslq	-100(%rbp), %rdi
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
	movq	-328(%rbp), %rdx                # 8-byte Reload
	movq	-336(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_119(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_30:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-320(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_32
# %bb.31:                               #   in Loop: Header=BB10_3 Depth=1
	movq	-320(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_120(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_32:                              #   in Loop: Header=BB10_3 Depth=1
	vmovsd	-344(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-320(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm1                   # xmm1 = mem[0],zero
	vmulsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -376(%rbp)               # 8-byte Spill
	movq	-40(%rbp), %rsi
	movq	%rsi, -368(%rbp)                # 8-byte Spill
	movslq	-100(%rbp), %rdi
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
	movq	-360(%rbp), %rdx                # 8-byte Reload
	movq	-368(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_121(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_34:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-352(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_36
# %bb.35:                               #   in Loop: Header=BB10_3 Depth=1
	movq	-352(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_122(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_36:                              #   in Loop: Header=BB10_3 Depth=1
	vmovsd	-376(%rbp), %xmm0               # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-352(%rbp), %rax                # 8-byte Reload
	vmovsd	(%rax), %xmm2                   # xmm2 = mem[0],zero
                                        # implicit-def: $xmm1
	vsqrtsd	%xmm2, %xmm1, %xmm1
	vmovsd	-80(%rbp), %xmm2                # xmm2 = mem[0],zero
	vaddsd	%xmm2, %xmm1, %xmm1
	vdivsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, -408(%rbp)               # 8-byte Spill
	movq	-16(%rbp), %rsi
	movq	%rsi, -400(%rbp)                # 8-byte Spill
	movslq	-100(%rbp), %rdi
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
	movq	-392(%rbp), %rdx                # 8-byte Reload
	movq	-400(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_123(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB10_38:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-384(%rbp), %rcx                # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB10_40
# %bb.39:                               #   in Loop: Header=BB10_3 Depth=1
	movq	-384(%rbp), %rsi                # 8-byte Reload
	leaq	.L__unnamed_124(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB10_40:                              #   in Loop: Header=BB10_3 Depth=1
	movq	-384(%rbp), %rax                # 8-byte Reload
	vmovsd	-408(%rbp), %xmm1               # 8-byte Reload
                                        # xmm1 = mem[0],zero
	vmovsd	(%rax), %xmm0                   # xmm0 = mem[0],zero
	vsubsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%rax)
# %bb.41:                               #   in Loop: Header=BB10_3 Depth=1
	movl	-100(%rbp), %eax
	movl	%eax, -416(%rbp)                # 4-byte Spill
	incl	%eax
	movl	%eax, -412(%rbp)                # 4-byte Spill
	seto	%al
	xorb	$-1, %al
	testb	$1, %al
	jne	.LBB10_43
# %bb.42:                               #   in Loop: Header=BB10_3 Depth=1
	movl	-416(%rbp), %eax                # 4-byte Reload
	movl	%eax, %eax
	movl	%eax, %esi
	leaq	.L__unnamed_125(%rip), %rdi
	movl	$1, %edx
	callq	__ubsan_handle_add_overflow@PLT
.LBB10_43:                              #   in Loop: Header=BB10_3 Depth=1
	movl	-412(%rbp), %eax                # 4-byte Reload
	movl	%eax, -100(%rbp)
	jmp	.LBB10_3
.LBB10_44:
	addq	$416, %rsp                      # imm = 0x1A0
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end10:
	.size	adam, .Lfunc_end10-adam
	.cfi_endproc
                                        # -- End function
	.globl	run_square_sums                 # -- Begin function run_square_sums
	.p2align	4
	.type	run_square_sums,@function
run_square_sums:                        # @run_square_sums
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
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	$0, (%rax)
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	movl	$1, (%rax)
	movl	-8(%rbp), %edi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movl	-28(%rbp), %ecx
	movl	-32(%rbp), %r8d
	callq	square_sums@PLT
	addq	$32, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end11:
	.size	run_square_sums, .Lfunc_end11-run_square_sums
	.cfi_endproc
                                        # -- End function
	.globl	run_sgd                         # -- Begin function run_sgd
	.p2align	4
	.type	run_sgd,@function
run_sgd:                                # @run_sgd
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
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	$0, (%rax)
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	movl	$1, (%rax)
	movl	-8(%rbp), %edi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movq	-32(%rbp), %rcx
	vmovsd	-40(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	-48(%rbp), %xmm1                # xmm1 = mem[0],zero
	movl	-52(%rbp), %r8d
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	callq	sgd@PLT
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end12:
	.size	run_sgd, .Lfunc_end12-run_sgd
	.cfi_endproc
                                        # -- End function
	.globl	run_nesterov                    # -- Begin function run_nesterov
	.p2align	4
	.type	run_nesterov,@function
run_nesterov:                           # @run_nesterov
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
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	$0, (%rax)
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	movl	$1, (%rax)
	movl	-8(%rbp), %edi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movq	-32(%rbp), %rcx
	vmovsd	-40(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	-48(%rbp), %xmm1                # xmm1 = mem[0],zero
	movl	-52(%rbp), %r8d
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	callq	nesterov@PLT
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end13:
	.size	run_nesterov, .Lfunc_end13-run_nesterov
	.cfi_endproc
                                        # -- End function
	.globl	run_adagrad                     # -- Begin function run_adagrad
	.p2align	4
	.type	run_adagrad,@function
run_adagrad:                            # @run_adagrad
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
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	$0, (%rax)
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	movl	$1, (%rax)
	movl	-8(%rbp), %edi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movq	-32(%rbp), %rcx
	vmovsd	-40(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	-48(%rbp), %xmm1                # xmm1 = mem[0],zero
	movl	-52(%rbp), %r8d
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	callq	adagrad@PLT
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end14:
	.size	run_adagrad, .Lfunc_end14-run_adagrad
	.cfi_endproc
                                        # -- End function
	.globl	run_rmsprop                     # -- Begin function run_rmsprop
	.p2align	4
	.type	run_rmsprop,@function
run_rmsprop:                            # @run_rmsprop
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
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	$0, (%rax)
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	movl	$1, (%rax)
	movl	-8(%rbp), %edi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movq	-32(%rbp), %rcx
	vmovsd	-40(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	-48(%rbp), %xmm1                # xmm1 = mem[0],zero
	movl	-52(%rbp), %r8d
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	-80(%rbp), %xmm4                # xmm4 = mem[0],zero
	callq	rmsprop@PLT
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end15:
	.size	run_rmsprop, .Lfunc_end15-run_rmsprop
	.cfi_endproc
                                        # -- End function
	.globl	run_adadelta                    # -- Begin function run_adadelta
	.p2align	4
	.type	run_adadelta,@function
run_adadelta:                           # @run_adadelta
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
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	$0, (%rax)
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	movl	$1, (%rax)
	movl	-8(%rbp), %edi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movq	-32(%rbp), %rcx
	movq	-40(%rbp), %r8
	vmovsd	-48(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	-56(%rbp), %xmm1                # xmm1 = mem[0],zero
	movl	16(%rbp), %r9d
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	-80(%rbp), %xmm4                # xmm4 = mem[0],zero
	callq	adadelta@PLT
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end16:
	.size	run_adadelta, .Lfunc_end16-run_adadelta
	.cfi_endproc
                                        # -- End function
	.globl	run_adam                        # -- Begin function run_adam
	.p2align	4
	.type	run_adam,@function
run_adam:                               # @run_adam
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
	leaq	_ZL6worker@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL6worker@DTPOFF(%rax), %rax
	movl	$0, (%rax)
	leaq	_ZL7workers@TLSLD(%rip), %rdi
	callq	__tls_get_addr@PLT
	leaq	_ZL7workers@DTPOFF(%rax), %rax
	movl	$1, (%rax)
	movl	-8(%rbp), %edi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movq	-32(%rbp), %rcx
	movq	-40(%rbp), %r8
	vmovsd	-48(%rbp), %xmm0                # xmm0 = mem[0],zero
	vmovsd	-56(%rbp), %xmm1                # xmm1 = mem[0],zero
	movl	16(%rbp), %r9d
	vmovsd	-64(%rbp), %xmm2                # xmm2 = mem[0],zero
	vmovsd	-72(%rbp), %xmm3                # xmm3 = mem[0],zero
	vmovsd	-80(%rbp), %xmm4                # xmm4 = mem[0],zero
	vmovsd	-88(%rbp), %xmm5                # xmm5 = mem[0],zero
	callq	adam@PLT
	addq	$96, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end17:
	.size	run_adam, .Lfunc_end17-run_adam
	.cfi_endproc
                                        # -- End function
	.p2align	4                               # -- Begin function _ZZ11square_sumsENK3$_0clEi
	.type	_ZZ11square_sumsENK3$_0clEi,@function
_ZZ11square_sumsENK3$_0clEi:            # @"_ZZ11square_sumsENK3$_0clEi"
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$80, %rsp
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
	leaq	.L__unnamed_126(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB18_2:
	movq	-24(%rbp), %rax                 # 8-byte Reload
	movq	(%rax), %rax
	movq	(%rax), %rsi
	movq	%rsi, -48(%rbp)                 # 8-byte Spill
	movslq	-12(%rbp), %rdi
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
	movq	-40(%rbp), %rdx                 # 8-byte Reload
	movq	-48(%rbp), %rsi                 # 8-byte Reload
	leaq	.L__unnamed_127(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB18_4:
	movq	-32(%rbp), %rcx                 # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB18_6
# %bb.5:
	movq	-32(%rbp), %rsi                 # 8-byte Reload
	leaq	.L__unnamed_128(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB18_6:
	movq	-24(%rbp), %rax                 # 8-byte Reload
	movq	-32(%rbp), %rcx                 # 8-byte Reload
	vmovsd	(%rcx), %xmm0                   # xmm0 = mem[0],zero
	vmovsd	%xmm0, -80(%rbp)                # 8-byte Spill
	movq	(%rax), %rax
	movq	(%rax), %rsi
	movq	%rsi, -72(%rbp)                 # 8-byte Spill
	movslq	-12(%rbp), %rdi
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
	movq	-64(%rbp), %rdx                 # 8-byte Reload
	movq	-72(%rbp), %rsi                 # 8-byte Reload
	leaq	.L__unnamed_129(%rip), %rdi
	callq	__ubsan_handle_pointer_overflow@PLT
.LBB18_8:
	movq	-56(%rbp), %rcx                 # 8-byte Reload
	cmpq	$0, %rcx
	setne	%al
	andq	$7, %rcx
	cmpq	$0, %rcx
	sete	%cl
	andb	%cl, %al
	testb	$1, %al
	jne	.LBB18_10
# %bb.9:
	movq	-56(%rbp), %rsi                 # 8-byte Reload
	leaq	.L__unnamed_130(%rip), %rdi
	callq	__ubsan_handle_type_mismatch_v1@PLT
.LBB18_10:
	vmovsd	-80(%rbp), %xmm0                # 8-byte Reload
                                        # xmm0 = mem[0],zero
	movq	-56(%rbp), %rax                 # 8-byte Reload
	vmulsd	(%rax), %xmm0, %xmm0
	addq	$80, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
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
