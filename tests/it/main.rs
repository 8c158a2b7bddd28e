//! User stories, one module each.
#![allow(clippy::disallowed_methods, reason = "stories make files and look at them")]
#![allow(clippy::unwrap_used, reason = "a story that cannot set its scene has failed")]
#![allow(dead_code, reason = "not every story uses every part of the harness")]
#![allow(unreachable_pub, reason = "one binary of private modules")]

mod ask_for_wheels;
mod ask_the_facts;
mod attention_of_a_gpu;
mod begin_a_project;
mod build_in_container;
mod build_locally;
mod cancel_a_build;
mod capped_legs;
mod check_a_wheel;
mod check_out_sources;
mod codes_of_wheels;
mod command_line;
mod deploy_the_pages;
mod docs_are_fresh;
mod doctor_on_this_machine;
mod edit_an_elf;
mod embed_rocm;
mod environments_by_purpose;
mod example_workflows;
mod expansion_is_exact;
mod expect_wheels;
mod facts_of_a_build;
mod facts_of_versions;
mod failed_legs;
#[path = "../../examples/fake-github/fake.rs"]
mod fake_github;
mod fake_github_answers;
mod find_a_wheel;
mod gfx_of_a_wheel;
mod hostile_wheels;
mod index_installs;
mod index_of_known_wheels;
mod index_of_published_wheels;
mod index_on_a_full_disk;
mod index_withdraws_wheels;
mod install_built_wheels;
mod keep_work_in_sources;
mod label_a_wheel;
mod mistakes_around_plans;
mod mistakes_in_matrices;
mod newer_actions;
mod patch_sources;
mod pick_a_wheel;
mod pins_and_manifests;
mod plan_a_matrix;
mod plan_torch_builds;
mod prune_releases;
mod publish_bad_input;
mod publish_calls;
mod publish_ends_under_way;
mod publish_says;
mod publish_survives_faults;
mod publish_survives_kills;
mod publish_takes_files;
mod publish_to_a_folder;
mod publish_to_github;
mod publish_two_at_once;
mod publish_waits;
mod read_what_is_published;
mod recipes_of_ones_own;
mod release_the_program;
mod render_a_build;
mod render_a_workflow;
mod repair_a_wheel;
mod repaired_wheels_load;
mod report_documents;
mod save_source_patches;
mod show_a_wheel;
mod step_of_a_workflow;
mod support;
mod torch_recipe;
mod verify_a_wheel;
