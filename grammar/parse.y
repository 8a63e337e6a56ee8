/*
 * The grammar of Tenon text: tokens to syntax tree.
 *
 * Pure and without globals. Lists are left-recursive, so a long list takes
 * constant stack. Errors are mended only where the text resumes: at items,
 * statements, kernel statements and fields, each `list error T_SYNC`.
 *
 * Binding, loose to tight: || && comparisons(none) | ^ & shifts + - * / // %
 * @ prefix ** . README.md tells how to add a statement.
 */
%require "3.8"
%define api.pure full
%define api.prefix {tn_parse_}
%define api.value.type {union tn_token_value}
%define api.location.type {struct tn_loc}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {struct tn_parser *p}

%code requires {
#include "grammar/lex.h"
}

%code provides {
int tn_parse_lex(union tn_token_value *value, struct tn_loc *loc,
		 struct tn_parser *p);
}

%{
#include <stdlib.h>

#include "grammar/node.h"

/* The nesting limit of lex.c is met long before the stack is this deep. */
#define YYMAXDEPTH 200000
#define YYLLOC_DEFAULT(current, rhs, n) do { \
	if (n) { \
		(current).begin = YYRHSLOC(rhs, 1).begin; \
		(current).end = YYRHSLOC(rhs, n).end; \
	} else { \
		(current).begin = (current).end = YYRHSLOC(rhs, 0).end; \
	} \
} while (0)
#define NAME(text, loc) tn_node_name(p, text, loc)
#define WORD(text) tn_scan_intern(&p->scan, text, sizeof(text) - 1)
#define NONE tn_node_name(p, NULL, p->last.loc)
#define BINARY(op, a, b) tn_node_binary(p, TN_INFIX_##op, a, b)
%}

%code {
static void tn_parse_error(const struct tn_loc *loc, struct tn_parser *p,
			   const char *message);
}

%token <name> T_IDENT "a name" T_ELEM "an element type" T_STRING "a string"
%token <expr> T_INT "an integer" T_FLOAT "a number"
%token T_SYNC "skipped text" T_BRIEF "'@@brief'"
%token T_TENON "'tenon'" T_INCLUDE "'include'" T_DIM "'dim'"
%token T_CONST "'const'" T_STRUCT "'struct'" T_WEIGHT "'weight'" T_FN "'fn'"
%token T_IF "'if'" T_ELSE "'else'" T_FOR "'for'" T_WHILE "'while'"
%token T_SCAN "'scan'" T_WITH "'with'" T_RETURN "'return'"
%token T_YIELD "'yield'" T_EMIT "'emit'" T_IN "'in'" T_TRUE "'true'"
%token T_FALSE "'false'" T_OPT "'opt'" T_MOD "'mod'" T_FROM "'from'"
%token T_BLOCK "'block'" T_VALUE "'value'" T_MESH "'mesh'"
%token T_ENCODING "'encoding'" T_OP "'op'" T_RULE "'rule'"
%token T_MATCH "'match'" T_REWRITE "'rewrite'" T_WHERE "'where'"
%token T_TEST "'test'" T_KERNEL "'kernel'" T_STEP "'step'" T_DO "'do'"
%token T_EXPECT "'expect'" T_REJECT "'reject'" T_LET "'let'"
%token T_ALLOC "'alloc'" T_PAR "'par'" T_VEC "'vec'" T_UNROLL "'unroll'"
%token T_OR "'||'" T_AND "'&&'" T_EQ "'=='" T_NE "'!='" T_LE "'<='"
%token T_GE "'>='" T_APPROX "'~='" T_SHL "'<<'" T_SHR "'>>'"
%token T_FLOORDIV "'//'" T_POW "'**'" T_FATARROW "'=>'" T_ARROW "'->'"
%token T_ELLIPSIS "'...'" T_DOTDOT "'..'" T_PLUSEQ "'+='"

%left T_OR
%left T_AND
%nonassoc T_EQ T_NE '<' '>' T_LE T_GE T_APPROX
%left '|'
%left '^'
%left '&'
%left T_SHL T_SHR
%left '+' '-'
%left '*' '/' T_FLOORDIV '%' '@'
%precedence PREFIX
%right T_POW

%type <name> name soft reserved word
%type <list> annots generics generic_list params params0 result
%type <list> bindings exprs elements shape shapes sizes0 args args0
%type <list> named_args options carries carry_list scan_ins indices
%type <list> arms karms
%type <annot> annot
%type <item> item bare_item
%type <dim> dim dim_opts
%type <type> type opt_type
%type <extent> extent
%type <from> from from0
%type <stmts> fields stmts kstmts
%type <field> field
%type <generic> generic
%type <param> param
%type <sig> sig rule_head
%type <block> block
%type <kblock> kblock
%type <stmt> stmt
%type <kstmt> kstmt kloop
%type <bind> binding
%type <region> region
%type <carry> carry
%type <scan_in> scan_in
%type <expr> expr primary literal where0 element step0
%type <arg> arg named_arg
%type <index> index

%%

file
	: header items
	;
header
	: %empty			{ tn_node_header(p, NULL, @$); }
	| T_TENON T_FLOAT ';'		{ tn_node_header(p, $2, @2); }
	| T_TENON error T_SYNC		{ yyerrok; }
	;
items
	: %empty
	| items item
	| items error T_SYNC		{ p->tree->broken = true; yyerrok; }
	;
item
	: annots bare_item
	{
		$$ = $2;
		TN_TAKE($$->annots, $1);
		tn_node_add(p, &p->items, $$);
	}
	;
bare_item
	: T_INCLUDE T_STRING ';'
	{ $$ = tn_node_item(p, TN_TREE_ITEM_INCLUDE, NAME($2, @2), @$); }
	| dim
	{
		$$ = tn_node_item(p, TN_TREE_ITEM_DIM, $1->name, @$);
		$$->u.dim = $1;
	}
	| T_CONST name opt_type '=' expr ';'
	{
		$$ = tn_node_item(p, TN_TREE_ITEM_CONST, NAME($2, @2), @$);
		$$->u.constant.type = $3;
		$$->u.constant.value = $5;
	}
	| T_STRUCT name sizes0 '{' fields '}'
	{
		$$ = tn_node_item(p, TN_TREE_ITEM_STRUCT, NAME($2, @2), @$);
		tn_node_fields(&$$->u.fields, $5);
		TN_TAKE($$->u.fields.sizes, $3);
	}
	| T_WEIGHT name ':' type from0 ';'
	{ $$ = tn_node_weight(p, NAME($2, @2), $4, $5, @$); }
	| T_WEIGHT name ':' type '=' expr ';'
	{ $$ = tn_node_derived(p, NAME($2, @2), $4, $6, @$); }
	| T_WEIGHT name '[' name T_IN expr T_DOTDOT expr ']' ':' type from0 ';'
	{
		$$ = tn_node_weight(p, NAME($2, @2), $11, $12, @$);
		tn_node_family($$, NAME($4, @4), $6, $8);
	}
	| T_ENCODING name T_BLOCK T_INT '{' fields '}'
	{
		$$ = tn_node_item(p, TN_TREE_ITEM_ENCODING, NAME($2, @2), @$);
		tn_node_encoding(p, $$, $4, $6, NULL);
	}
	| T_ENCODING name T_BLOCK T_INT '{' fields T_VALUE '=' expr ';' '}'
	{
		$$ = tn_node_item(p, TN_TREE_ITEM_ENCODING, NAME($2, @2), @$);
		tn_node_encoding(p, $$, $4, $6, $9);
	}
	| T_MESH name '=' '[' named_args ']' ';'
	{
		$$ = tn_node_item(p, TN_TREE_ITEM_MESH, NAME($2, @2), @$);
		TN_TAKE($$->u.mesh, $5);
	}
	| T_FN name sig block
	{ $$ = tn_node_def(p, TN_TREE_ITEM_FN, NAME($2, @2), $3, $4, @$); }
	| T_OP name sig block
	{ $$ = tn_node_def(p, TN_TREE_ITEM_OP, NAME($2, @2), $3, $4, @$); }
	| T_OP name sig ';'
	{ $$ = tn_node_def(p, TN_TREE_ITEM_OP, NAME($2, @2), $3, NULL, @$); }
	| T_RULE name rule_head ':' expr T_FATARROW expr where0 ';'
	{
		$$ = tn_node_rule(p, NAME($2, @2), $3, $8, @$);
		$$->u.rule.before = $5;
		$$->u.rule.after = $7;
	}
	| T_RULE name rule_head T_MATCH block T_REWRITE block where0 ';'
	{
		$$ = tn_node_rule(p, NAME($2, @2), $3, $8, @$);
		$$->u.rule.match = *$5;
		$$->u.rule.rewrite = *$7;
	}
	| T_TEST T_STRING block
	{
		$$ = tn_node_item(p, TN_TREE_ITEM_TEST, NAME($2, @2), @$);
		$$->u.test.body = *$3;
	}
	| T_KERNEL name '(' params0 ')' kblock
	{ $$ = tn_node_kernel(p, NAME($2, @2), $4, $6, @$); }
	;

dim
	: T_DIM name '=' expr ';'
	{
		$$ = tn_node_dim(p, NAME($2, @2), @$);
		$$->value = $4;
	}
	| T_DIM name T_IN expr dim_opts ';'
	{
		$$ = $5;
		$$->name = NAME($2, @2);
		$$->span = tn_lex_span(p, @$);
		tn_node_bounds(p, $$, $4);
	}
	| T_DIM name T_IN expr T_DOTDOT expr dim_opts ';'
	{
		struct tn_loc old = { @4.begin, @6.end };

		$$ = $7;
		$$->name = NAME($2, @2);
		$$->span = tn_lex_span(p, @$);
		tn_node_old_bounds(p, $$, $4, $6, old);
	}
	;
dim_opts
	: %empty			{ $$ = tn_node_dim(p, NONE, @$); }
	| dim_opts T_OPT exprs		{ $$ = $1; TN_TAKE($$->opts, $3); }
	| dim_opts T_MOD expr		{ $$ = $1; $$->mod = $3; }
	;

sizes0
	: %empty			{ $$ = NULL; }
	| '[' shapes ']'		{ $$ = $2; }
	;
fields
	: %empty			{ $$ = tn_node_stmts(p, NULL, NULL); }
	| fields field			{ $$ = tn_node_stmts(p, $1, $2); }
	| fields error T_SYNC		{ $$ = $1; $$->broken = true; yyerrok; }
	;
field
	: name ':' type from0 ';'
	{ $$ = tn_node_struct_field(p, NAME($1, @1), $3, $4, @$); }
	;
from0
	: %empty			{ $$ = tn_node_from(p, NONE, NONE); }
	| from
	;
from
	: T_FROM T_STRING
	{ $$ = tn_node_from(p, NAME($2, @2), NONE); }
	| T_FROM T_STRING ':' T_STRING
	{ $$ = tn_node_from(p, NAME($2, @2), NAME($4, @4)); }
	;

sig
	: generics '(' params0 ')' T_ARROW result
	{ $$ = tn_node_sig(p, $1, $3, $6); }
	;
rule_head
	: generics '(' params0 ')'
	{ $$ = tn_node_sig(p, $1, $3, NULL); }
	;
generics
	: %empty			{ $$ = NULL; }
	| '<' generic_list '>'		{ $$ = $2; }
	;
generic_list
	: generic			{ $$ = tn_node_add(p, NULL, $1); }
	| generic_list ',' generic	{ $$ = tn_node_add(p, $1, $3); }
	;
generic
	: name ':' name
	{ $$ = tn_node_generic(p, NAME($1, @1), NAME($3, @3)); }
	;
result
	: type
	{
		struct tn_param *only = tn_node_param(p, NONE, $1, NULL, @$);

		$$ = tn_node_add(p, NULL, only);
	}
	| '(' params ')'		{ $$ = $2; }
	;
params0
	: %empty			{ $$ = NULL; }
	| params
	;
params
	: param				{ $$ = tn_node_add(p, NULL, $1); }
	| params ',' param		{ $$ = tn_node_add(p, $1, $3); }
	;
param
	: name ':' type
	{ $$ = tn_node_param(p, NAME($1, @1), $3, NULL, @$); }
	| name ':' type '=' expr
	{ $$ = tn_node_param(p, NAME($1, @1), $3, $5, @$); }
	;
where0
	: %empty			{ $$ = NULL; }
	| T_WHERE expr			{ $$ = $2; }
	;

type
	: name shape annots
	{ $$ = tn_node_type(p, NAME($1, @1), $2, $3, @$); }
	| T_DIM shape annots
	{ $$ = tn_node_type(p, NAME(WORD("dim"), @1), $2, $3, @$); }
	| T_ELEM shape annots
	{
		$$ = tn_node_type(p, NAME($1, @1), $2, $3, @$);
		$$->is_elem = true;
	}
	;
opt_type
	: %empty			{ $$ = NULL; }
	| ':' type			{ $$ = $2; }
	;
shape
	: %empty			{ $$ = NULL; }
	| '[' ']'			{ $$ = tn_node_add(p, NULL, NULL); }
	| '[' shapes ']'		{ $$ = $2; }
	;
shapes
	: extent			{ $$ = tn_node_add(p, NULL, $1); }
	| shapes ',' extent		{ $$ = tn_node_add(p, $1, $3); }
	;
extent
	: expr
	{ $$ = tn_node_extent(p, $1, NONE, @$); }
	| '*' name
	{ $$ = tn_node_extent(p, NULL, NAME($2, @2), @$); }
	;
annots
	: %empty			{ $$ = NULL; }
	| annots annot			{ $$ = tn_node_add(p, $1, $2); }
	;
annot
	: '@' word
	{ $$ = tn_node_annot(p, NAME($2, @2), @$); }
	| '@' word '(' args0 ')'
	{
		$$ = tn_node_annot(p, NAME($2, @2), @$);
		$$->has_args = true;
		TN_TAKE($$->args, $4);
	}
	;

block
	: '{' stmts '}'			{ $$ = tn_node_block(p, $2, @$); }
	;
stmts
	: %empty			{ $$ = tn_node_stmts(p, NULL, NULL); }
	| stmts stmt			{ $$ = tn_node_stmts(p, $1, $2); }
	| stmts error T_SYNC		{ $$ = $1; $$->broken = true; yyerrok; }
	;
stmt
	: bindings '=' expr ';'
	{
		$$ = tn_node_stmt_of(p, TN_STMT_BIND, $3, @$);
		TN_TAKE($$->binds, $1);
	}
	| bindings '=' region ';'
	{
		$$ = tn_node_stmt(p, TN_STMT_BIND, NULL, @$);
		TN_TAKE($$->binds, $1);
		$$->region = $3;
	}
	| expr ';'
	{ $$ = tn_node_stmt_of(p, TN_STMT_EXPR, $1, @$); }
	| dim
	{
		$$ = tn_node_stmt(p, TN_STMT_DIM, NULL, @$);
		$$->dim = $1;
	}
	| T_RETURN exprs ';'
	{ $$ = tn_node_stmt(p, TN_STMT_RETURN, $2, @$); }
	| T_YIELD exprs ';'
	{ $$ = tn_node_stmt(p, TN_STMT_YIELD, $2, @$); }
	| T_EMIT exprs ';'
	{ $$ = tn_node_stmt(p, TN_STMT_EMIT, $2, @$); }
	| T_EXPECT expr ';'
	{ $$ = tn_node_stmt_of(p, TN_STMT_EXPECT, $2, @$); }
	| T_EXPECT expr ',' args ';'
	{
		$$ = tn_node_stmt_of(p, TN_STMT_EXPECT, $2, @$);
		TN_TAKE($$->args, $4);
	}
	| T_REJECT T_STRING block
	{
		$$ = tn_node_stmt(p, TN_STMT_REJECT, NULL, @$);
		$$->code = NAME($2, @2);
		$$->block = *$3;
	}
	;
bindings
	: binding			{ $$ = tn_node_add(p, NULL, $1); }
	| bindings ',' binding		{ $$ = tn_node_add(p, $1, $3); }
	;
binding
	: name opt_type
	{ $$ = tn_node_bind(p, NAME($1, @1), $2); }
	;

region
	: arms T_ELSE block
	{
		$$ = tn_node_region(p, TN_REGION_IF, NULL, @$);
		TN_TAKE($$->arms, tn_node_arm(p, $1, NULL, $3));
	}
	| carries T_FOR name T_IN expr T_DOTDOT expr block
	{
		$$ = tn_node_region(p, TN_REGION_FOR, $8, @$);
		TN_TAKE($$->carries, $1);
		$$->var = NAME($3, @3);
		$$->low = $5;
		$$->high = $7;
	}
	| carries T_WHILE expr block
	{
		$$ = tn_node_while(p, $1, NULL, $4, @$);
		$$->cond = $3;
	}
	| carries T_WHILE '(' named_args ')' expr block
	{
		$$ = tn_node_while(p, $1, $4, $7, @$);
		$$->cond = $6;
	}
	| carries T_WHILE block T_DO block
	{
		$$ = tn_node_while(p, $1, NULL, $5, @$);
		$$->test = *$3;
	}
	| carries T_WHILE '(' named_args ')' block T_DO block
	{
		$$ = tn_node_while(p, $1, $4, $8, @$);
		$$->test = *$6;
	}
	| carries T_SCAN options scan_ins block
	{
		$$ = tn_node_region(p, TN_REGION_SCAN, $5, @$);
		TN_TAKE($$->carries, $1);
		TN_TAKE($$->options, $3);
		TN_TAKE($$->inputs, $4);
	}
	;
arms
	: T_IF expr block		{ $$ = tn_node_arm(p, NULL, $2, $3); }
	| arms T_ELSE T_IF expr block	{ $$ = tn_node_arm(p, $1, $4, $5); }
	;
carries
	: %empty			{ $$ = NULL; }
	| T_WITH '(' carry_list ')'	{ $$ = $3; }
	;
carry_list
	: carry				{ $$ = tn_node_add(p, NULL, $1); }
	| carry_list ',' carry		{ $$ = tn_node_add(p, $1, $3); }
	;
carry
	: name opt_type '=' expr
	{ $$ = tn_node_carry(p, NAME($1, @1), $2, $4); }
	;
options
	: %empty			{ $$ = NULL; }
	| '(' named_args ')'		{ $$ = $2; }
	;
scan_ins
	: scan_in			{ $$ = tn_node_add(p, NULL, $1); }
	| scan_ins ',' scan_in		{ $$ = tn_node_add(p, $1, $3); }
	;
scan_in
	: name T_IN expr
	{ $$ = tn_node_scan_in(p, NAME($1, @1), $3); }
	;

exprs
	: expr				{ $$ = tn_node_add(p, NULL, $1); }
	| exprs ',' expr		{ $$ = tn_node_add(p, $1, $3); }
	;
expr
	: primary
	| expr T_OR expr		{ $$ = BINARY(OR, $1, $3); }
	| expr T_AND expr		{ $$ = BINARY(AND, $1, $3); }
	| expr T_EQ expr		{ $$ = BINARY(EQ, $1, $3); }
	| expr T_NE expr		{ $$ = BINARY(NE, $1, $3); }
	| expr '<' expr			{ $$ = BINARY(LT, $1, $3); }
	| expr '>' expr			{ $$ = BINARY(GT, $1, $3); }
	| expr T_LE expr		{ $$ = BINARY(LE, $1, $3); }
	| expr T_GE expr		{ $$ = BINARY(GE, $1, $3); }
	| expr T_APPROX expr		{ $$ = BINARY(APPROX, $1, $3); }
	| expr '|' expr			{ $$ = BINARY(BITOR, $1, $3); }
	| expr '^' expr			{ $$ = BINARY(BITXOR, $1, $3); }
	| expr '&' expr			{ $$ = BINARY(BITAND, $1, $3); }
	| expr T_SHL expr		{ $$ = BINARY(SHL, $1, $3); }
	| expr T_SHR expr		{ $$ = BINARY(SHR, $1, $3); }
	| expr '+' expr			{ $$ = BINARY(ADD, $1, $3); }
	| expr '-' expr			{ $$ = BINARY(SUB, $1, $3); }
	| expr '*' expr			{ $$ = BINARY(MUL, $1, $3); }
	| expr '/' expr			{ $$ = BINARY(DIV, $1, $3); }
	| expr T_FLOORDIV expr		{ $$ = BINARY(FLOORDIV, $1, $3); }
	| expr '%' expr			{ $$ = BINARY(MOD, $1, $3); }
	| expr '@' expr			{ $$ = BINARY(MATMUL, $1, $3); }
	| expr T_POW expr		{ $$ = BINARY(POW, $1, $3); }
	| '-' expr %prec PREFIX
	{ $$ = tn_node_unary(p, TN_INFIX_NEG, $2, @$); }
	| '~' expr %prec PREFIX
	{ $$ = tn_node_unary(p, TN_INFIX_BITNOT, $2, @$); }
	| '!' expr %prec PREFIX
	{ $$ = tn_node_unary(p, TN_INFIX_NOT, $2, @$); }
	;
primary
	: name
	{ $$ = tn_node_word(p, TN_EXPR_NAME, $1, @$); }
	| T_ELEM
	{ $$ = tn_node_word(p, TN_EXPR_ELEM, $1, @$); }
	| literal
	| '(' expr ')'			{ $$ = tn_node_paren(p, $2, @$); }
	| '(' expr ',' exprs ')'
	{ $$ = tn_node_tuple(p, $2, $4, @$); }
	| '[' ']'
	{ $$ = tn_node_list(p, TN_EXPR_LIST, NULL, @$); }
	| '[' elements ']'
	{ $$ = tn_node_list(p, TN_EXPR_LIST, $2, @$); }
	| name '(' args0 ')'
	{ $$ = tn_node_call(p, $1, @1, $3, @$); }
	| primary '.' word
	{ $$ = tn_node_field(p, $1, NAME($3, @3), @$); }
	| primary '[' indices ']'	{ $$ = tn_node_index(p, $1, $3, @$); }
	;
elements
	: element			{ $$ = tn_node_add(p, NULL, $1); }
	| elements ',' element		{ $$ = tn_node_add(p, $1, $3); }
	;
element
	: expr
	| '*' name
	{ $$ = tn_node_word(p, TN_EXPR_PACK, $2, @$); }
	;
literal
	: T_INT
	| T_FLOAT
	| T_STRING
	{ $$ = tn_node_word(p, TN_EXPR_STRING, $1, @$); }
	| T_TRUE			{ $$ = tn_node_truth(p, true, @$); }
	| T_FALSE			{ $$ = tn_node_truth(p, false, @$); }
	;
args0
	: %empty			{ $$ = NULL; }
	| args
	;
args
	: arg				{ $$ = tn_node_add(p, NULL, $1); }
	| args ',' arg			{ $$ = tn_node_add(p, $1, $3); }
	;
arg
	: expr
	{ $$ = tn_node_arg(p, TN_ARG_POSITIONAL, NONE, $1, @$); }
	| named_arg
	| T_DOTDOT name
	{ $$ = tn_node_arg(p, TN_ARG_REST, NAME($2, @2), NULL, @$); }
	;
named_args
	: named_arg			{ $$ = tn_node_add(p, NULL, $1); }
	| named_args ',' named_arg	{ $$ = tn_node_add(p, $1, $3); }
	;
named_arg
	: word '=' expr
	{ $$ = tn_node_arg(p, TN_ARG_NAMED, NAME($1, @1), $3, @$); }
	;
indices
	: index				{ $$ = tn_node_add(p, NULL, $1); }
	| indices ',' index		{ $$ = tn_node_add(p, $1, $3); }
	;
index
	: expr
	{ $$ = tn_node_range(p, TN_INDEX_AT, $1, NULL, @$); }
	| T_ELLIPSIS
	{ $$ = tn_node_range(p, TN_INDEX_ELLIPSIS, NULL, NULL, @$); }
	| ':'
	{ $$ = tn_node_range(p, TN_INDEX_RANGE, NULL, NULL, @$); }
	| expr ':'
	{ $$ = tn_node_range(p, TN_INDEX_RANGE, $1, NULL, @$); }
	| ':' expr
	{ $$ = tn_node_range(p, TN_INDEX_RANGE, NULL, $2, @$); }
	| expr ':' expr
	{ $$ = tn_node_range(p, TN_INDEX_RANGE, $1, $3, @$); }
	;

kblock
	: '{' kstmts '}'		{ $$ = tn_node_kblock(p, $2, @$); }
	;
kstmts
	: %empty			{ $$ = tn_node_stmts(p, NULL, NULL); }
	| kstmts kstmt			{ $$ = tn_node_stmts(p, $1, $2); }
	| kstmts error T_SYNC		{ $$ = $1; $$->broken = true; yyerrok; }
	;
kstmt
	: kloop name T_IN expr T_DOTDOT expr step0 kblock
	{
		$$ = $1;
		$$->name = NAME($2, @2);
		$$->low = $4;
		$$->high = $6;
		$$->step = $7;
		$$->body = *$8;
		$$->span = tn_lex_span(p, @$);
	}
	| T_LET name opt_type '=' expr ';'
	{ $$ = tn_node_let(p, NAME($2, @2), $3, $5, @$); }
	| T_LET name name opt_type '=' expr ';'
	{
		$$ = tn_node_let(p, NAME($3, @3), $4, $6, @$);
		tn_node_mutable(p, $$, NAME($2, @2));
	}
	| T_ALLOC name ':' type ';'
	{ $$ = tn_node_alloc(p, NAME($2, @2), $4, @$); }
	| primary '=' expr ';'
	{ $$ = tn_node_store(p, $1, $3, false, @$); }
	| primary T_PLUSEQ expr ';'
	{ $$ = tn_node_store(p, $1, $3, true, @$); }
	| primary ';'
	{ $$ = tn_node_kstmt(p, TN_TREE_KSTMT_EXPR, $1, @$); }
	| karms
	{ $$ = tn_node_kif(p, $1, @$); }
	| karms T_ELSE kblock
	{ $$ = tn_node_kif(p, tn_node_karm(p, $1, NULL, $3), @$); }
	;
karms
	: T_IF expr kblock		{ $$ = tn_node_karm(p, NULL, $2, $3); }
	| karms T_ELSE T_IF expr kblock	{ $$ = tn_node_karm(p, $1, $4, $5); }
	;
kloop
	: T_FOR
	{ $$ = tn_node_loop(p, TN_TREE_LOOP_FOR, NULL, @$); }
	| T_PAR
	{ $$ = tn_node_loop(p, TN_TREE_LOOP_PAR, NULL, @$); }
	| T_PAR '(' args ')'
	{ $$ = tn_node_loop(p, TN_TREE_LOOP_PAR, $3, @$); }
	| T_VEC
	{ $$ = tn_node_loop(p, TN_TREE_LOOP_VEC, NULL, @$); }
	| T_UNROLL
	{ $$ = tn_node_loop(p, TN_TREE_LOOP_UNROLL, NULL, @$); }
	;
step0
	: %empty			{ $$ = NULL; }
	| T_STEP expr			{ $$ = $2; }
	;

name
	: T_IDENT
	| soft
	;
word
	: name
	| reserved
	| T_ELEM
	;
soft
	: T_OPT				{ $$ = WORD("opt"); }
	| T_MOD				{ $$ = WORD("mod"); }
	| T_FROM			{ $$ = WORD("from"); }
	| T_BLOCK			{ $$ = WORD("block"); }
	| T_VALUE			{ $$ = WORD("value"); }
	| T_MESH			{ $$ = WORD("mesh"); }
	| T_ENCODING			{ $$ = WORD("encoding"); }
	| T_OP				{ $$ = WORD("op"); }
	| T_RULE			{ $$ = WORD("rule"); }
	| T_MATCH			{ $$ = WORD("match"); }
	| T_REWRITE			{ $$ = WORD("rewrite"); }
	| T_WHERE			{ $$ = WORD("where"); }
	| T_TEST			{ $$ = WORD("test"); }
	| T_KERNEL			{ $$ = WORD("kernel"); }
	| T_STEP			{ $$ = WORD("step"); }
	| T_DO				{ $$ = WORD("do"); }
	;
reserved
	: T_TENON			{ $$ = WORD("tenon"); }
	| T_INCLUDE			{ $$ = WORD("include"); }
	| T_DIM				{ $$ = WORD("dim"); }
	| T_CONST			{ $$ = WORD("const"); }
	| T_STRUCT			{ $$ = WORD("struct"); }
	| T_WEIGHT			{ $$ = WORD("weight"); }
	| T_FN				{ $$ = WORD("fn"); }
	| T_IF				{ $$ = WORD("if"); }
	| T_ELSE			{ $$ = WORD("else"); }
	| T_FOR				{ $$ = WORD("for"); }
	| T_WHILE			{ $$ = WORD("while"); }
	| T_SCAN			{ $$ = WORD("scan"); }
	| T_WITH			{ $$ = WORD("with"); }
	| T_RETURN			{ $$ = WORD("return"); }
	| T_YIELD			{ $$ = WORD("yield"); }
	| T_EMIT			{ $$ = WORD("emit"); }
	| T_IN				{ $$ = WORD("in"); }
	;

%%

/* Bison calls this only when its stack cannot grow. */
static void tn_parse_error(const struct tn_loc *loc, struct tn_parser *p,
			   const char *message)
{
	(void)loc;
	(void)message;
	p->scan.arena->failed = true;
}

/* Display name of a symbol: bison's, with quotes around single characters
 * already in it. */
static const char *symbol_text(yysymbol_kind_t symbol)
{
	return symbol == YYSYMBOL_YYEOF ? "end of file" : yysymbol_name(symbol);
}

/* Sets of symbols that are shown as one: what an expression begins with and
 * what continues it. */
static bool is_operator(yysymbol_kind_t symbol)
{
	return (symbol >= YYSYMBOL_T_OR && symbol <= YYSYMBOL_T_POW) ||
	       symbol == YYTRANSLATE('<') || symbol == YYTRANSLATE('>') ||
	       symbol == YYTRANSLATE('|') || symbol == YYTRANSLATE('^') ||
	       symbol == YYTRANSLATE('&') || symbol == YYTRANSLATE('+') ||
	       symbol == YYTRANSLATE('-') || symbol == YYTRANSLATE('*') ||
	       symbol == YYTRANSLATE('/') || symbol == YYTRANSLATE('%') ||
	       symbol == YYTRANSLATE('@') || symbol == YYTRANSLATE('.') ||
	       symbol == YYTRANSLATE('[') || symbol == YYTRANSLATE('(');
}

static bool is_operand(yysymbol_kind_t symbol)
{
	return (symbol >= YYSYMBOL_T_IDENT && symbol <= YYSYMBOL_T_FLOAT) ||
	       symbol == YYSYMBOL_T_TRUE || symbol == YYSYMBOL_T_FALSE ||
	       symbol == YYTRANSLATE('(') || symbol == YYTRANSLATE('[') ||
	       symbol == YYTRANSLATE('-') || symbol == YYTRANSLATE('~') ||
	       symbol == YYTRANSLATE('!');
}

static bool has(const yysymbol_kind_t *all, int count, yysymbol_kind_t symbol)
{
	int i;

	for (i = 0; i < count; i++)
		if (all[i] == symbol)
			return true;
	return false;
}

/* Fills in the tokens to show: no internal ones, no annotations, no
 * contextual words where any name would do, one entry for an expression or
 * an operator. */
static void show_expected(struct tn_syntax_error *error, const char **shown,
			  const yysymbol_kind_t *all, int count)
{
	const bool operand = has(all, count, YYSYMBOL_T_FLOAT) && error->name;
	const bool operator = has(all, count, YYSYMBOL_T_OR);
	int i;

	if (operand)
		shown[error->nexpected++] = "an expression";
	if (operator)
		shown[error->nexpected++] = "an operator";
	for (i = 0; i < count; i++) {
		if (all[i] == YYSYMBOL_T_SYNC || all[i] == YYSYMBOL_T_BRIEF ||
		    (operand && is_operand(all[i])) ||
		    (operator && is_operator(all[i])) ||
		    (count > 1 && all[i] == YYTRANSLATE('@')) ||
		    (error->name && all[i] >= YYSYMBOL_T_OPT &&
		     all[i] <= YYSYMBOL_T_DO))
			continue;
		shown[error->nexpected++] = symbol_text(all[i]);
	}
}

static int yyreport_syntax_error(const yypcontext_t *context,
				 struct tn_parser *p)
{
	yysymbol_kind_t all[YYNTOKENS];
	const char *shown[YYNTOKENS + 2];
	struct tn_syntax_error error = { 0 };
	int i, count = yypcontext_expected_tokens(context, all, YYNTOKENS);

	error.found = symbol_text(yypcontext_token(context));
	error.expected = shown;
	for (i = 0; i < count; i++) {
		error.semicolon |= all[i] == YYTRANSLATE(';');
		error.brace |= all[i] == YYTRANSLATE('{');
		error.name |= all[i] == YYSYMBOL_T_IDENT;
	}
	show_expected(&error, shown, all, count);
	tn_error_report(p, &error);
	return 0;
}
