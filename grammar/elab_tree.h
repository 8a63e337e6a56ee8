/*
 * The syntax tree as the elaborator sees it.
 *
 * Some structs of the tree bear the same name as structs of the graph. Here
 * those of the tree are called tree_*, so that one file may use both.
 */
#ifndef TN_GRAMMAR_ELAB_TREE_H
#define TN_GRAMMAR_ELAB_TREE_H

#define tn_type tree_type
#define tn_dim tree_dim
#define tn_block tree_block
#define tn_annot tree_annot
#define tn_annots tree_annots
#define tn_item tree_item
#define tn_item_kind tree_item_kind
#define tn_kstmt tree_kstmt
#define tn_kstmt_kind tree_kstmt_kind
#define tn_kblock tree_kblock
#define TN_ITEM_INCLUDE TREE_ITEM_INCLUDE
#define TN_ITEM_DIM TREE_ITEM_DIM
#define TN_ITEM_CONST TREE_ITEM_CONST
#define TN_ITEM_STRUCT TREE_ITEM_STRUCT
#define TN_ITEM_WEIGHT TREE_ITEM_WEIGHT
#define TN_ITEM_ENCODING TREE_ITEM_ENCODING
#define TN_ITEM_MESH TREE_ITEM_MESH
#define TN_ITEM_FN TREE_ITEM_FN
#define TN_ITEM_OP TREE_ITEM_OP
#define TN_ITEM_RULE TREE_ITEM_RULE
#define TN_ITEM_TEST TREE_ITEM_TEST
#define TN_ITEM_KERNEL TREE_ITEM_KERNEL
#define TN_KSTMT_LOOP TREE_KSTMT_LOOP
#define TN_KSTMT_LET TREE_KSTMT_LET
#define TN_KSTMT_ALLOC TREE_KSTMT_ALLOC
#define TN_KSTMT_STORE TREE_KSTMT_STORE
#define TN_KSTMT_EXPR TREE_KSTMT_EXPR
#define TN_KSTMT_IF TREE_KSTMT_IF
#define TN_LOOP_FOR TREE_LOOP_FOR
#define TN_LOOP_PAR TREE_LOOP_PAR
#define TN_LOOP_VEC TREE_LOOP_VEC
#define TN_LOOP_UNROLL TREE_LOOP_UNROLL
#include "grammar/syntax.h"
#undef tn_type
#undef tn_dim
#undef tn_block
#undef tn_annot
#undef tn_annots
#undef tn_item
#undef tn_item_kind
#undef tn_kstmt
#undef tn_kstmt_kind
#undef tn_kblock
#undef TN_ITEM_INCLUDE
#undef TN_ITEM_DIM
#undef TN_ITEM_CONST
#undef TN_ITEM_STRUCT
#undef TN_ITEM_WEIGHT
#undef TN_ITEM_ENCODING
#undef TN_ITEM_MESH
#undef TN_ITEM_FN
#undef TN_ITEM_OP
#undef TN_ITEM_RULE
#undef TN_ITEM_TEST
#undef TN_ITEM_KERNEL
#undef TN_KSTMT_LOOP
#undef TN_KSTMT_LET
#undef TN_KSTMT_ALLOC
#undef TN_KSTMT_STORE
#undef TN_KSTMT_EXPR
#undef TN_KSTMT_IF
#undef TN_LOOP_FOR
#undef TN_LOOP_PAR
#undef TN_LOOP_VEC
#undef TN_LOOP_UNROLL

#endif
