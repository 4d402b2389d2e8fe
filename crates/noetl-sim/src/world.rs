//! Everything there is in one simulation: the store, a server, workers, messages between them, and a clock.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_engine::{Input, Run};
use noetl_types::{CommandKey, ExecutionId, ParentLink, TimerKey, Timestamp, Value};

use crate::faults::Faults;
use crate::job::Job;
use crate::ledger::Ledger;
use crate::random::Random;
use crate::store::Store;
use crate::tally::Tally;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::values::AtHand;
use crate::witness::Witness;

/// Something under way to the server. It is sent again until the server has dealt with it.
#[derive(Clone, Debug)]
pub enum Letter {
    Input { to: ExecutionId, input: Input },
    StartChild { command: CommandKey, path: String, payload: Value, parent: ParentLink },
}

/// The run that everything is about.
pub const MAIN: ExecutionId = ExecutionId(1);

/// Old messages that may turn up again.
const REMEMBERED: usize = 30;

#[derive(Debug)]
pub struct World {
    pub random: Random,
    pub faults: Faults,
    pub now: Timestamp,
    pub catalog: BTreeMap<String, Arc<Plan>>,
    pub store: Store,
    /// Runs in the memory of the server.
    pub live: BTreeMap<ExecutionId, Run>,
    pub at_hand: Arc<AtHand>,
    pub at_workers: Arc<AtHand>,
    pub jobs: BTreeMap<u64, Job>,
    pub mail: Vec<Letter>,
    /// Messages that were dealt with.
    pub old_mail: VecDeque<Letter>,
    /// Timers that were fired or cancelled.
    pub old_timers: VecDeque<(ExecutionId, TimerKey)>,
    pub tools: Tools,
    pub witnesses: BTreeMap<ExecutionId, Witness>,
    pub ledgers: BTreeMap<ExecutionId, Ledger>,
    pub tally: Tally,
    pub trace: Trace,
    next_job: u64,
    next_child: i64,
}

impl World {
    pub fn new(mut random: Random, catalog: BTreeMap<String, Arc<Plan>>, trace: Trace) -> World {
        let faults = Faults::draw(&mut random);
        let tools = Tools::new(faults.tool_errors);
        World {
            random,
            faults,
            now: Timestamp::from_millis(1_700_000_000_000),
            catalog,
            store: Store::default(),
            live: BTreeMap::new(),
            at_hand: Arc::default(),
            at_workers: Arc::default(),
            jobs: BTreeMap::new(),
            mail: Vec::new(),
            old_mail: VecDeque::new(),
            old_timers: VecDeque::new(),
            tools,
            witnesses: BTreeMap::new(),
            ledgers: BTreeMap::new(),
            tally: Tally::default(),
            trace,
            next_job: 1,
            next_child: 100,
        }
    }

    pub fn new_job(&mut self, job: Job) -> u64 {
        let id = self.next_job;
        self.next_job += 1;
        self.jobs.insert(id, job);
        id
    }

    pub fn new_child(&mut self) -> ExecutionId {
        self.next_child += 1;
        ExecutionId(self.next_child)
    }

    pub fn send(&mut self, to: ExecutionId, input: Input) {
        self.mail.push(Letter::Input { to, input });
    }

    pub fn remember(&mut self, letter: Letter) {
        if self.old_mail.len() == REMEMBERED {
            self.old_mail.pop_front();
        }
        self.old_mail.push_back(letter);
    }

    pub fn remember_timer(&mut self, execution: ExecutionId, timer: TimerKey) {
        if self.old_timers.len() == REMEMBERED {
            self.old_timers.pop_front();
        }
        self.old_timers.push_back((execution, timer));
    }

    /// Runs that have not come to their end.
    pub fn open_runs(&self) -> Vec<ExecutionId> {
        self.ledgers.iter().filter(|(_, ledger)| !ledger.is_over()).map(|(&execution, _)| execution).collect()
    }
}
