package schema

import (
	"strings"

	pg "github.com/sqlc-dev/oliphant"
)

// nameSet makes a set of the words of a text.
func nameSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(text) {
		set[name] = true
	}
	return set
}

// aggregates are all of PostgreSQL's own, up to version 18.
var aggregates = nameSet(`
	any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or count every max min mode sum
	json_agg json_agg_strict json_object_agg json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict
	jsonb_agg jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict
	range_agg range_intersect_agg string_agg xmlagg
	corr covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
	stddev stddev_pop stddev_samp variance var_pop var_samp
	percentile_cont percentile_disc rank dense_rank percent_rank cume_dist`)

// plainFunctions are those of PostgreSQL's own that queries use, and that are
// no aggregates, whatever their arguments.
var plainFunctions = nameSet(`
	abs acos acosd acosh age area array_dims array_fill array_length array_lower array_ndims array_position array_positions
	array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_json array_to_string array_upper
	ascii asin asind asinh atan atan2 atan2d atand atanh
	bit_count bit_length bpchar btrim cardinality casefold cbrt ceil ceiling char_length character_length chr clock_timestamp
	concat concat_ws convert convert_from convert_to cos cosd cosh cot cotd crc32 crc32c current_database current_schema
	current_schemas current_setting currval
	date date_add date_bin date_part date_subtract date_trunc daterange decode degrees div encode enum_first enum_last
	enum_range erf erfc exp extract factorial family float4 float8 floor format gamma gcd gen_random_uuid generate_series
	generate_subscripts get_bit get_byte host hostmask inet_client_addr initcap int2 int4 int4range int8 int8range interval
	isempty isfinite
	json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each json_each_text
	json_extract_path json_extract_path_text json_object json_object_keys json_populate_record json_populate_recordset
	json_strip_nulls json_to_record json_to_recordset json_typeof
	jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each
	jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys jsonb_path_exists
	jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array
	jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record
	jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset
	jsonb_typeof justify_days justify_hours justify_interval
	lastval lcm left length lgamma ln log log10 lower lower_inc lower_inf lpad ltrim make_date make_interval make_time
	make_timestamp make_timestamptz masklen md5 min_scale mod multirange netmask network nextval normalize now
	num_nonnulls num_nulls numeric numrange octet_length overlay parse_ident pg_advisory_xact_lock
	pg_advisory_xact_lock_shared pg_notify pg_sleep pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared pi
	phraseto_tsquery plainto_tsquery position pow power quote_ident quote_literal quote_nullable radians random random_normal
	range_merge regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array
	regexp_split_to_table regexp_substr repeat replace reverse right round row_to_json rpad rtrim
	scale set_bit set_byte set_config set_masklen setseed setval setweight sha224 sha256 sha384 sha512 sign sin sind sinh
	split_part sqrt starts_with statement_timestamp string_to_array string_to_table strpos substr substring
	tan tand tanh text timeofday timezone to_ascii to_bin to_char to_date to_hex to_json to_jsonb to_number to_oct to_timestamp
	to_tsquery to_tsvector transaction_timestamp translate trim_array trim_scale trunc ts_headline ts_rank ts_rank_cd tsrange
	tstzrange unistr unnest upper upper_inc upper_inf uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7
	varchar version websearch_to_tsquery width_bucket`)

// isAggregate reports whether an aggregate of that name is known.
func (c *Catalog) isAggregate(name string) bool { return aggregates[name] || c.aggregates[name] }

// mayAggregate reports whether a call is one of an aggregate or a window
// function, or may be: a function that neither PostgreSQL nor a migration makes
// is an extension's, of which nothing is known.
func (c *Catalog) mayAggregate(f *pg.FuncCall) bool {
	if f.Over != nil || f.AggStar || f.AggDistinct || f.AggFilter != nil || len(f.AggOrder) > 0 || c.isAggregate(funcName(f)) {
		return true
	}
	names := texts(f.Funcname)
	if len(names) == 2 && names[0] == "pg_catalog" {
		return false // its aggregates are all known
	}
	return !c.functions[funcName(f)] && (len(names) > 1 || !plainFunctions[funcName(f)])
}
