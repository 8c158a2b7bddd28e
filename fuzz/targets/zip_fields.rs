#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rock_matrix_fuzz::zip_fields(bytes));
