//! The behaviour every store has. An adapter proves that it has it with one line:
//!
//! ```text
//! async fn memory_store() -> (Arc<dyn Store>, ()) {
//!     (Arc::new(MemoryStore::new()), ())
//! }
//!
//! noetl_store_tests::conformance!(memory_store);
//! ```
//!
//! The function makes an empty store, and with it whatever must live as long (a temporary folder, say). Every behaviour
//! becomes a test of its own with a store of its own.

pub mod audit;
pub mod blobs;
pub mod catalog;
pub mod commands;
pub mod commit;
pub mod credentials;
pub mod events;
pub mod feed;
mod given;
pub mod keychain;
pub mod list;
pub mod logs;
pub mod outbox;
pub mod plugins;
pub mod projections;
pub mod reservations;
pub mod results;
pub mod retention;
pub mod subscriptions;
pub mod test_suites;
pub mod timers;
pub mod tokens;
pub mod variables;
pub mod workers;

use std::future::Future;
use std::sync::Arc;

use noetl_store::Store;

/// Runs one behaviour against a new store. What came with the store is dropped last.
pub fn run<Guard, Making, Behaving>(
    make_store: impl FnOnce() -> Making,
    behaviour: impl FnOnce(Arc<dyn Store>) -> Behaving,
) where
    Making: Future<Output = (Arc<dyn Store>, Guard)>,
    Behaving: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    runtime.expect("a runtime can be built").block_on(async {
        let (store, _guard) = make_store().await;
        behaviour(store).await;
    });
}

/// Turns every behaviour into a test of the store that the given function makes.
#[macro_export]
macro_rules! conformance {
    ($make_store:ident) => {
        $crate::conformance! { @tests $make_store, commit:
            a_new_execution_is_found_with_its_row
            an_unknown_execution_is_not_found
            seqs_go_on_without_a_gap_over_commits
            a_gap_in_seq_is_refused
            an_execution_twice_in_a_batch_is_refused
            an_event_id_twice_in_a_write_is_refused
            a_new_execution_without_an_event_is_refused
            a_snapshot_ahead_of_the_events_is_refused
            an_empty_batch_commits
            a_lost_race_leaves_the_others_committed
            creating_an_execution_that_exists_is_lost
            going_on_with_an_unknown_execution_is_lost
            an_execution_that_is_lost_leaves_nothing_behind
            an_event_id_that_is_recorded_loses_its_execution_only
            two_executions_may_have_the_same_event_id
            of_concurrent_writers_exactly_one_wins
            the_first_commit_fixes_what_never_changes
            every_commit_sets_what_changes
            the_newest_event_and_step_are_known
            a_write_without_events_changes_the_rest
            a_large_batch_commits_whole
        }
        $crate::conformance! { @tests $make_store, events:
            every_kind_of_event_survives_unchanged
            deeply_nested_values_survive
            ids_and_instants_may_be_extreme
            events_page_forward
            events_page_backward
            events_of_other_executions_stay_apart
            recorded_event_ids_are_known
            an_event_is_found_by_its_id
            the_execution_of_an_event_is_found
            events_are_listed_both_ways_and_by_type
            events_are_listed_since_an_id_that_may_be_rounded
            a_snapshot_is_loaded_as_it_was_written
            a_newer_snapshot_replaces_the_older
            loop_results_come_in_index_order
            loop_results_page_by_index
            loop_results_are_those_of_one_visit_and_execution
            failed_items_have_loop_results_too
            the_last_outcome_of_an_item_counts
        }
        $crate::conformance! { @tests $make_store, list:
            executions_are_listed_newest_first
            pages_hold_still_while_executions_begin
            executions_are_filtered_by_status
            a_changed_status_moves_an_execution_between_lists
            executions_are_filtered_by_path
            executions_are_filtered_by_parent
            executions_are_filtered_by_time
            executions_are_filtered_by_labels
            search_looks_into_path_id_error_and_labels
            search_looks_into_the_beginning_of_long_errors
            executions_are_filtered_by_a_part_of_their_path
            executions_are_filtered_by_catalog_entry_and_pool
            pages_go_both_ways
            an_offset_leaves_out_the_beginning
            rare_executions_are_found_among_many
            a_short_text_is_looked_for_among_the_newest
            matches_are_counted_as_far_as_asked
            everything_below_an_execution_is_listed
            search_takes_wildcards_literally
            filters_apply_together
            executions_are_counted_by_status
            the_counts_follow_every_change_and_none_that_was_lost
        }
        $crate::conformance! { @tests $make_store, commands:
            an_issued_command_is_open
            a_command_issued_with_a_lease_is_claimed
            every_shape_of_key_finds_its_command
            open_commands_are_listed_in_the_order_of_their_events
            open_commands_page_by_event_and_execution
            open_commands_are_filtered
            a_claim_gives_the_command_and_its_body
            a_claimed_command_is_held_against_others
            claiming_again_extends_the_own_lease
            an_expired_lease_can_be_taken_over
            a_closed_command_cannot_be_claimed
            a_command_that_begins_and_ends_in_one_commit_was_never_open
            an_unknown_command_cannot_be_claimed
            of_concurrent_claims_exactly_one_succeeds
            closing_keeps_the_row_and_drops_the_body
            the_first_close_counts
            closing_an_unknown_command_is_passed_over
            attempts_are_commands_of_their_own
            a_command_issued_and_closed_at_once_is_closed
            a_command_is_found_by_its_event
            renewing_extends_all_claims_of_one_worker
            expired_leases_are_listed_longest_overdue_first
            a_released_command_is_free_at_once
            issuing_an_attempt_again_replaces_it
        }
        $crate::conformance! { @tests $make_store, timers:
            timers_are_claimed_when_due_and_earliest_first
            every_kind_of_timer_comes_back_as_it_was
            a_claimed_timer_is_invisible_for_a_while
            claiming_takes_no_more_than_asked
            a_cancelled_timer_is_gone
            starting_a_timer_again_replaces_it
            executions_have_timers_of_their_own
            the_next_timer_is_known
            of_concurrent_claimers_only_one_gets_a_timer
        }
        $crate::conformance! { @tests $make_store, outbox:
            messages_are_claimed_in_the_order_they_were_added
            a_message_waits_until_it_is_available
            a_message_in_flight_is_not_claimed_again
            a_message_left_in_flight_is_claimed_again_in_the_end
            a_published_message_is_done
            a_failed_message_rests_longer_each_time
            the_rest_is_never_longer_than_256_seconds
            a_claim_takes_one_to_1000_messages
            marks_may_come_again_or_late
            an_unknown_message_cannot_fail
            errors_are_cut_to_2000_characters
            an_event_has_one_message_per_execution
            published_messages_are_purged_in_the_end
        }
        $crate::conformance! { @tests $make_store, results:
            a_result_is_found_as_it_was_put
            binary_content_is_kept_exactly
            results_of_a_commit_are_found
            a_result_belongs_to_its_execution_and_name
            putting_a_result_again_is_harmless
            a_result_that_changed_is_an_error
            the_latest_result_of_a_name_is_found
            expired_results_are_collected
            collecting_takes_no_more_than_asked
            results_of_a_live_execution_are_kept
            results_within_reach_of_a_live_ancestor_are_kept
            results_within_reach_of_a_live_relative_are_kept
            results_within_reach_of_a_live_borrower_are_kept
            results_of_an_execution_are_listed_without_content
            expired_results_without_an_execution_are_collected
            results_of_an_execution_are_deleted
            results_that_another_execution_refers_to_are_not_deleted
        }
        $crate::conformance! { @tests $make_store, catalog:
            each_registration_of_a_path_is_one_version_more
            concurrent_registrations_get_versions_of_their_own
            an_entry_is_found_as_it_was_registered
            an_id_is_found_by_path_as_the_catalog_changes
            unknown_entries_are_not_found
            the_latest_version_is_found
            an_id_that_is_taken_is_a_conflict
            an_archived_entry_is_found_by_id_only
            a_restored_entry_is_back
            an_entry_without_executions_can_be_deleted
            an_entry_with_executions_cannot_be_deleted
            entries_are_listed_by_path_and_newest_version
            entries_are_filtered
            the_latest_visible_version_is_listed
            entries_page_by_path_and_version
            entries_of_one_path_are_listed
            the_newest_entries_can_come_first
            visible_paths_of_a_kind_are_counted
        }
        $crate::conformance! { @tests $make_store, credentials:
            a_credential_is_found_by_name_and_id
            a_credential_of_the_same_name_is_replaced
            a_credential_id_that_is_taken_is_a_conflict
            credentials_are_listed_by_name_and_filtered
            a_deleted_credential_is_gone
            the_debug_form_of_a_credential_has_no_data
        }
        $crate::conformance! { @tests $make_store, keychain:
            a_keychain_entry_is_found_and_its_accesses_counted
            a_keychain_entry_is_replaced_by_its_key
            keychain_entries_are_listed_by_catalog_entry
            expired_keychain_entries_are_purged_unless_renewed
        }
        $crate::conformance! { @tests $make_store, logs:
            chunks_are_read_in_the_order_they_came
            a_chunk_that_comes_again_is_passed_over
            a_log_is_followed_by_its_cursor
            a_log_is_read_in_pages
            a_log_is_read_from_an_offset
            logs_are_filtered
            each_stream_is_bounded_on_its_own
            logs_of_executions_stay_apart
        }
        $crate::conformance! { @tests $make_store, audit:
            audit_rows_are_listed_newest_first
            an_audit_row_is_never_changed
            who_asked_is_written_with_what_was_asked_for
            audit_rows_are_filtered
        }
        $crate::conformance! { @tests $make_store, workers:
            a_store_that_works_passes_its_check
            a_worker_registers_and_is_listed
            a_worker_that_registers_again_keeps_its_id
            a_heartbeat_shows_that_a_worker_lives
            workers_are_filtered
            silent_workers_are_offline_until_they_are_heard_again
            workers_leave_or_are_purged
        }
        $crate::conformance! { @tests $make_store, variables:
            reading_a_variable_counts_the_access
            setting_a_variable_again_replaces_its_value
            variables_are_deleted_one_by_one_or_all
        }
        $crate::conformance! { @tests $make_store, feed:
            every_event_is_read_once_in_the_order_of_commits
        }
        $crate::conformance! { @tests $make_store, reservations:
            a_key_starts_one_execution
            an_expired_key_is_free_again
            scopes_have_keys_of_their_own
            an_execution_that_does_not_begin_takes_no_key
            of_two_in_a_batch_the_first_takes_the_key
            of_concurrent_starts_with_a_key_one_begins
            only_a_beginning_reserves
            expired_reservations_are_purged
        }
        $crate::conformance! { @tests $make_store, subscriptions:
            a_subscription_is_found_as_it_was_registered
            a_path_has_one_live_subscription
            of_concurrent_registrations_one_is_new
            a_change_is_recorded_with_its_event
            of_two_changes_that_race_one_wins
            a_deactivated_subscription_makes_room_for_another
            events_about_messages_leave_the_state_alone
            subscriptions_are_listed_newest_first
            subscriptions_are_no_executions
        }
        $crate::conformance! { @tests $make_store, tokens:
            a_token_is_found_by_the_digest_of_its_secret
            a_token_id_or_digest_that_is_taken_is_a_conflict
            a_token_is_valid_until_it_expires_or_is_revoked
            the_last_use_of_a_token_is_known
            the_debug_form_of_a_token_has_no_digest
        }
        $crate::conformance! { @tests $make_store, test_suites:
            a_suite_is_found_and_replaced_by_its_id
            suites_are_listed_by_id_and_playbook
            a_deleted_suite_is_gone
        }
        $crate::conformance! { @tests $make_store, retention:
            a_deleted_execution_is_gone_with_everything_it_owned
            an_execution_that_runs_is_not_deleted
            a_deleted_execution_can_begin_anew
            old_executions_are_purged_first_started_first
            an_execution_stays_while_its_family_runs
            an_execution_stays_while_others_borrow_from_it
            only_a_beginning_borrows
            old_commands_are_purged_when_they_are_closed
        }
        $crate::conformance! { @tests $make_store, plugins:
            a_module_is_found_as_it_was_registered
            the_highest_version_of_a_module_is_the_latest
            registering_the_same_code_again_changes_nothing
            other_code_for_a_taken_version_is_a_conflict_with_both_digests
            code_that_changed_is_an_error
            modules_are_listed_by_path_and_highest_version
            a_deleted_module_is_gone
        }
        $crate::conformance! { @tests $make_store, blobs:
            a_blob_is_found_as_it_was_put_last
            a_blob_is_found_by_what_its_key_says_of_its_execution
            a_blob_that_changed_is_an_error
        }
        $crate::conformance! { @tests $make_store, projections:
            an_event_is_new_once
            an_event_of_the_log_is_known
            told_events_go_by_age_or_with_their_execution
        }
    };
    (@tests $make_store:ident, $module:ident: $($behaviour:ident)+) => {
        mod $module {
            $(
                #[test]
                fn $behaviour() {
                    $crate::run(super::$make_store, $crate::$module::$behaviour);
                }
            )+
        }
    };
}
