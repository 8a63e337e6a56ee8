dnl Macros of Tenon's configure.ac, in the order of their use.

dnl TN_WITH(NAME, PC-MODULE, WORD, PURPOSE)
dnl Adds --with-NAME=auto|yes|no. Where pkg-config finds PC-MODULE: HAVE_WORD
dnl in config.h, the automake conditional HAVE_WORD, WORD_CFLAGS, WORD_LIBS.
dnl The shell variable tn_has_NAME says yes or no.
AC_DEFUN([TN_WITH], [
AC_ARG_WITH([$1],
	[AS_HELP_STRING([--with-$1=auto|yes|no], [use $1 for $4 @<:@auto@:>@])],
	[], [with_$1=auto])
tn_has_$1=no
AS_CASE([$with_$1],
	[no], [],
	[yes], [PKG_CHECK_MODULES([$3], [$2], [tn_has_$1=yes])],
	[auto], [PKG_CHECK_MODULES([$3], [$2], [tn_has_$1=yes],
		[tn_has_$1=no])],
	[AC_MSG_ERROR([--with-$1 takes auto, yes or no])])
AS_IF([test "$tn_has_$1" = yes],
	[AC_DEFINE([HAVE_$3], [1], [Define to 1 to use $1 for $4.])],
	[$3_CFLAGS= $3_LIBS=])
AM_CONDITIONAL([HAVE_$3], [test "$tn_has_$1" = yes])
])

dnl TN_WITH_PROGRAM(NAME, WORD, FOLDERS, PURPOSE)
dnl Adds --with-NAME=auto|yes|no. Looks for the program on PATH, then in
dnl FOLDERS. The variable WORD holds its path; HAVE_WORD as in TN_WITH.
AC_DEFUN([TN_WITH_PROGRAM], [
AC_ARG_WITH([$1],
	[AS_HELP_STRING([--with-$1=auto|yes|no], [use $1 for $4 @<:@auto@:>@])],
	[], [with_$1=auto])
tn_has_$1=no
AS_IF([test "$with_$1" != no],
	[AC_PATH_PROG([$2], [$1], [], [$PATH$PATH_SEPARATOR$3])])
AS_IF([test -n "$$2"], [tn_has_$1=yes])
AS_IF([test "$with_$1:$tn_has_$1" = yes:no],
	[AC_MSG_ERROR([--with-$1=yes, but $1 was not found])])
AS_IF([test "$tn_has_$1" = yes],
	[AC_DEFINE([HAVE_$2], [1], [Define to 1 to use $1 for $4.])])
AM_CONDITIONAL([HAVE_$2], [test "$tn_has_$1" = yes])
])

dnl TN_TRY_CFLAG(FLAG, VARIABLE)
dnl Appends FLAG to VARIABLE if the compiler takes it.
AC_DEFUN([TN_TRY_CFLAG], [
AS_VAR_PUSHDEF([tn_cache], [tn_cv_cflag_$1])
AC_CACHE_CHECK([whether $CC takes $1], [tn_cache], [
	tn_saved_cflags=$CFLAGS
	CFLAGS="$CFLAGS -Werror $1"
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
		[AS_VAR_SET([tn_cache], [yes])],
		[AS_VAR_SET([tn_cache], [no])])
	CFLAGS=$tn_saved_cflags])
AS_VAR_IF([tn_cache], [yes], [AS_VAR_APPEND([$2], [" $1"])])
AS_VAR_POPDEF([tn_cache])
])

dnl TN_FIND_EXPORT
dnl TN_EXPORT gets the flag with which a program lends the public functions of
dnl the library, linked into it, to plug-ins that it loads.
AC_DEFUN([TN_FIND_EXPORT], [
AC_CACHE_CHECK([how a program lends functions to plug-ins], [tn_cv_export], [
	tn_saved_ldflags=$LDFLAGS
	tn_cv_export=none
	for tn_flag in "--dynamic-list=$srcdir/src/driver/exports.list" \
		--export-dynamic; do
		LDFLAGS="$tn_saved_ldflags -Wl,$tn_flag"
		AS_IF([test "$tn_cv_export" = none], [
			AC_LINK_IFELSE([AC_LANG_PROGRAM()],
				[tn_cv_export=${tn_flag%%=*}])])
	done
	LDFLAGS=$tn_saved_ldflags])
AS_CASE([$tn_cv_export],
	[--dynamic-list], [
	TN_EXPORT='-Wl,--dynamic-list=$(srcdir)/src/driver/exports.list'],
	[none], [TN_EXPORT=],
	[TN_EXPORT="-Wl,$tn_cv_export"])
AC_SUBST([TN_EXPORT])
])

dnl TN_WARNINGS
dnl Fills TN_CFLAGS with the language level and the warnings of style.
AC_DEFUN([TN_WARNINGS], [
TN_CFLAGS="-std=c11"
m4_foreach_w([tn_flag], [-Wall -Wextra -Wshadow -Wconversion
	-Wstrict-prototypes -Wmissing-prototypes -Wswitch-enum
	-Wpointer-arith -Wvla],
	[TN_TRY_CFLAG(tn_flag, [TN_CFLAGS])])
AC_SUBST([TN_CFLAGS])
])

dnl TN_ENABLE_WERROR
AC_DEFUN([TN_ENABLE_WERROR], [
AC_ARG_ENABLE([werror],
	[AS_HELP_STRING([--enable-werror], [make warnings errors])],
	[], [enable_werror=no])
AS_IF([test "$enable_werror" != no], [TN_CFLAGS="$TN_CFLAGS -Werror"])
])

dnl TN_ENABLE_SANITIZERS
dnl Builds with AddressSanitizer and UndefinedBehaviorSanitizer; the first
dnl finding ends the program.
AC_DEFUN([TN_ENABLE_SANITIZERS], [
AC_ARG_ENABLE([sanitizers],
	[AS_HELP_STRING([--enable-sanitizers],
		[build with the address and undefined-behaviour sanitizers])],
	[], [enable_sanitizers=no])
AS_IF([test "$enable_sanitizers" != no], [
	tn_flags="-fsanitize=address,undefined -fno-sanitize-recover=all"
	TN_CFLAGS="$TN_CFLAGS $tn_flags -fno-omit-frame-pointer"
	TN_LDFLAGS="$TN_LDFLAGS $tn_flags"
	AC_DEFINE([TN_SANITIZED], [1], [Define to 1 if built with sanitizers.])
])
])

dnl TN_ENABLE_COVERAGE
AC_DEFUN([TN_ENABLE_COVERAGE], [
AC_ARG_ENABLE([coverage],
	[AS_HELP_STRING([--enable-coverage], [count the lines that run])],
	[], [enable_coverage=no])
AS_IF([test "$enable_coverage" != no], [
	TN_CFLAGS="$TN_CFLAGS --coverage"
	TN_LDFLAGS="$TN_LDFLAGS --coverage"
	AC_DEFINE([TN_COVERAGE], [1], [Define to 1 if built to count lines.])
])
AC_SUBST([TN_LDFLAGS])
])
