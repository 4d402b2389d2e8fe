//! Everything there is in one simulation of the drive loop, and what may happen next.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use noetl_engine::Input;
use noetl_server::catalog::Reference;
use noetl_server::clock::{Clock, ManualClock};
use noetl_server::drive::{Applied, DriveConfig, DriveError, ExecuteRequest};
use noetl_store::CommitFault;
use noetl_types::{ExecutionId, Timestamp, Value};

use super::faults::Faults;
use super::server::Server;
use super::storage::Storage;
use super::workers::Working;
use crate::random::Random;
use crate::scenario::Scenario;
use crate::tally::Tally;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::values::AtHand;

/// Something under way to a server. It is sent again until it is answered.
#[derive(Clone, Debug)]
pub struct Letter {
    pub to: ExecutionId,
    pub input: Input,
    /// The server that it should go to.
    pub server: usize,
}

/// Old messages that may turn up again.
const REMEMBERED: usize = 30;

pub struct World {
    pub random: Random,
    pub faults: Faults,
    pub clock: Arc<ManualClock>,
    pub storage: Storage,
    pub servers: Vec<Server>,
    config: DriveConfig,
    /// The playbook that is run.
    main: Reference,
    pub jobs: BTreeMap<u64, Working>,
    pub next_job: u64,
    pub at_workers: Arc<AtHand>,
    pub mail: Vec<Letter>,
    old_mail: VecDeque<Letter>,
    pub tools: Tools,
    /// Runs that are asked for and not acknowledged.
    pub to_start: Vec<ExecutionId>,
    /// The last event of each run that someone was told is durable.
    pub acknowledged: BTreeMap<ExecutionId, u64>,
    /// The store answers nobody for so many actions.
    down_for: usize,
    pub tally: Tally,
    pub trace: Trace,
}

/// What may be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Start,
    Deliver,
    Take,
    Work,
    FailCommit,
    LoseAnswer,
    Outage,
    Crash,
    KillWorker,
    LoseMail,
    Echo,
    ExpireLeases,
    FireTimers,
    Signal,
    Pause,
    Cancel,
}

impl World {
    pub fn new(storage: Storage, mut random: Random, trace: Trace) -> World {
        let faults = Faults::draw(&mut random);
        let tools = Tools::new(faults.tool_errors);
        let config = DriveConfig {
            tasks: random.between(1, 3),
            batch: *random.pick(&[1, 3, 512]),
            mailbox: *random.pick(&[1, 4, 1024]),
            // Runs are forgotten and brought back all the time, or never.
            session_bytes: *random.pick(&[0, 5_000, 64 << 20]),
            value_bytes: *random.pick(&[0, 64 << 20]),
            snapshot_every: *random.pick(&[1, 7, 30, 500]),
            ..DriveConfig::default()
        };
        let to_start = (1..=random.between(1, 4)).map(|number| ExecutionId(number as i64)).collect();
        World {
            random,
            faults,
            clock: Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000))),
            storage,
            servers: Vec::new(),
            config,
            main: Reference::Id(0),
            jobs: BTreeMap::new(),
            next_job: 1,
            at_workers: Arc::default(),
            mail: Vec::new(),
            old_mail: VecDeque::new(),
            tools,
            to_start,
            acknowledged: BTreeMap::new(),
            down_for: 0,
            tally: Tally::default(),
            trace,
        }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn pass(&self, time: Duration) {
        self.clock.set(self.now().after(time));
    }

    /// Goes through the faults, lets everything come to its end, and holds the store to account.
    pub fn play(&mut self, scenario: &Scenario) -> Result<(), String> {
        for _ in 0..self.random.between(1, 2) {
            self.add_server()?;
        }
        self.register(scenario)?;
        for _ in 0..self.faults.patience {
            let action = self.next_action();
            self.carry_out(action, scenario)?;
        }
        self.end_faults()?;
        self.finish(scenario)?;
        self.hold_to_account()
    }

    fn add_server(&mut self) -> Result<(), String> {
        let number = self.servers.len() as u16 + 1;
        let server = Server::start(
            number,
            self.config.clone(),
            &self.storage.store,
            &self.clock,
            self.faults.at_once,
        )?;
        self.servers.push(server);
        Ok(())
    }

    fn register(&mut self, scenario: &Scenario) -> Result<(), String> {
        let server = &self.servers[0];
        for playbook in &scenario.playbooks {
            let (registered, _) = server
                .run(server.drive.playbooks().register(&playbook.text))
                .map_err(|error| format!("{} can't be registered: {error}", playbook.path))?;
            if playbook.path == scenario.main {
                self.main = Reference::Id(registered.catalog_id);
            }
        }
        Ok(())
    }

    fn next_action(&mut self) -> Action {
        let faults = &self.faults;
        let given = |there: bool, weight: usize| if there { weight } else { 0 };
        let has_commands = self.servers.iter().any(|server| server.bus.len() > 0);
        let in_memory = self.storage.memory.is_some();
        let weights = [
            (Action::Start, given(!self.to_start.is_empty(), 100)),
            (Action::Deliver, given(!self.mail.is_empty(), 100)),
            (Action::Take, given(has_commands, 100)),
            (Action::Work, given(!self.jobs.is_empty(), 100)),
            (Action::FailCommit, given(in_memory, faults.failed_commits)),
            (Action::LoseAnswer, given(in_memory, faults.lost_answers)),
            (Action::Outage, given(in_memory, faults.outages)),
            (Action::Crash, faults.crashes),
            (Action::KillWorker, given(!self.jobs.is_empty(), faults.dying_workers)),
            (Action::LoseMail, given(!self.mail.is_empty(), faults.lost_mail)),
            (Action::Echo, given(!self.old_mail.is_empty(), faults.echoes)),
            (Action::ExpireLeases, faults.expiring_leases),
            // Someone has to look at the timers, faults or not.
            (Action::FireTimers, faults.timers + 1),
            (Action::Signal, faults.signals),
            (Action::Pause, faults.pauses),
            (Action::Cancel, faults.cancels),
        ];
        let only: Vec<usize> = weights.iter().map(|(_, weight)| *weight).collect();
        weights[self.random.weighted(&only)].0
    }

    fn carry_out(&mut self, action: Action, scenario: &Scenario) -> Result<(), String> {
        let time = self.random.below(200_000);
        self.pass(Duration::from_micros(time as u64));
        self.end_outage();
        match action {
            Action::Start => self.start(scenario)?,
            Action::Deliver => self.deliver(),
            Action::Take => self.take(),
            Action::Work => self.work()?,
            Action::FailCommit => self.fail_commit(CommitFault::BeforeApply),
            Action::LoseAnswer => self.fail_commit(CommitFault::AfterApply),
            Action::Outage => self.begin_outage(),
            Action::Crash => self.crash()?,
            Action::KillWorker => {
                let at = self.random.below(self.jobs.len());
                let job = self.jobs.keys().nth(at).copied();
                self.tally.dead_workers += 1;
                self.trace.say(|| "a worker dies".to_owned());
                self.jobs.remove(&job.unwrap_or_default());
            }
            Action::LoseMail => {
                // Only what a worker sends can be lost; people notice that there is no answer.
                let at = self.random.below(self.mail.len());
                self.tally.lost_messages += 1;
                self.trace.say(|| "a message is lost".to_owned());
                self.mail.swap_remove(at);
            }
            Action::Echo => {
                let at = self.random.below(self.old_mail.len());
                let letter = self.old_mail[at].clone();
                self.tally.echoes += 1;
                self.mail.push(letter);
            }
            Action::ExpireLeases => {
                self.pass(self.config.lease);
                self.expire_leases();
            }
            Action::FireTimers => {
                let time = self.random.below(20);
                self.pass(Duration::from_secs(time as u64));
                self.fire_timers();
            }
            Action::Signal => {
                let name = *self.random.pick(&["go", "stop", "start", "s1", "nobody"]);
                self.tally.signals += 1;
                self.tell_someone(Input::Signal { name: name.into(), payload: Value::Null.into() });
            }
            Action::Pause => {
                self.tally.pauses += 1;
                let pause = self.random.chance(500);
                self.tell_someone(if pause {
                    Input::Pause { reason: "asked for".into() }
                } else {
                    Input::Resume
                });
            }
            Action::Cancel => {
                self.tally.cancels += 1;
                self.tell_someone(Input::Cancel { reason: "asked for".into() });
            }
        }
        self.stop_cancelled();
        Ok(())
    }

    pub fn some_server(&mut self) -> usize {
        self.random.below(self.servers.len())
    }

    /// Asks for a run. Whoever asks tries again under the same id until there is an answer.
    pub fn start(&mut self, scenario: &Scenario) -> Result<(), String> {
        let execution = *self.random.pick(&self.to_start);
        let server = self.some_server();
        let server = &self.servers[server];
        let request = ExecuteRequest::new(self.main.clone(), scenario.payload.clone());
        self.trace.say(|| format!("[{execution}] is asked for"));
        match server.run(server.drive.execute_as(execution, request)) {
            Ok(applied) => {
                self.to_start.retain(|other| *other != execution);
                self.tally.runs += 1;
                self.acknowledge(&applied);
            }
            Err(DriveError::Refused(error)) if scenario.ends => {
                return Err(format!("the run can't start: {error}"));
            }
            Err(DriveError::Refused(_)) => self.to_start.retain(|other| *other != execution),
            Err(error) => self.expect_trouble(&error)?,
        }
        Ok(())
    }

    fn acknowledge(&mut self, applied: &Applied) {
        let seq = self.acknowledged.entry(applied.execution).or_default();
        *seq = applied.seq.max(*seq);
    }

    /// Only a store that fails, or another server that is always faster, is a reason to turn someone away.
    fn expect_trouble(&self, error: &DriveError) -> Result<(), String> {
        match error {
            DriveError::Store(error) if error.is_retryable() => Ok(()),
            DriveError::Catalog(error) if matches!(&**error, noetl_server::catalog::CatalogError::Store(error) if error.is_retryable()) => {
                Ok(())
            }
            DriveError::Contended(_) => Ok(()),
            error => Err(format!("an input is turned away: {error}")),
        }
    }

    /// Messages arrive in any order, several at once; some arrive more than once.
    pub fn deliver(&mut self) {
        let server = self.some_server();
        let mut letters = Vec::new();
        for _ in 0..self.random.between(1, 6) {
            if self.mail.is_empty() {
                break;
            }
            let at = self.random.below(self.mail.len());
            let letter = self.mail[at].clone();
            if letter.server != server && !self.random.chance(self.faults.strangers) {
                continue;
            }
            if self.random.chance(self.faults.duplicates) {
                self.tally.duplicates += 1;
            } else {
                self.mail.swap_remove(at);
            }
            letters.push(letter);
        }
        self.send(server, letters);
    }

    /// Sends letters together. Those that are not answered well are sent again.
    pub fn send(&mut self, server: usize, letters: Vec<Letter>) {
        let inputs = letters.iter().map(|letter| (letter.to, letter.input.clone())).collect();
        let answers = self.servers[server].inputs(inputs);
        for (letter, answer) in letters.into_iter().zip(answers) {
            self.trace.say(|| match &answer {
                Ok(applied) => {
                    format!(
                        "[{}] {}: event {}, {}",
                        letter.to,
                        crate::server::words(&letter.input),
                        applied.seq,
                        applied.status
                    )
                }
                Err(error) => format!("[{}] {}: {error}", letter.to, crate::server::words(&letter.input)),
            });
            match answer {
                Ok(applied) => {
                    self.acknowledge(&applied);
                    self.remember(letter);
                }
                // Nobody was told that this run exists; it may yet begin.
                Err(DriveError::NotFound(_)) => {}
                Err(_) => self.mail.push(letter),
            }
        }
    }

    fn remember(&mut self, letter: Letter) {
        if self.old_mail.len() == REMEMBERED {
            self.old_mail.pop_front();
        }
        self.old_mail.push_back(letter);
    }

    /// Someone tells some run something, and again until there is an answer.
    fn tell_someone(&mut self, input: Input) {
        let known: Vec<ExecutionId> = self.acknowledged.keys().copied().collect();
        if !known.is_empty() {
            let to = *self.random.pick(&known);
            let server = self.some_server();
            self.mail.push(Letter { to, input, server });
        }
    }

    fn fail_commit(&mut self, fault: CommitFault) {
        match fault {
            CommitFault::BeforeApply => self.tally.failed_commits += 1,
            CommitFault::AfterApply => self.tally.lost_answers += 1,
        }
        self.trace.say(|| format!("the next commit fails: {fault:?}"));
        if let Some(memory) = &self.storage.memory {
            memory.fail_next_commit(fault);
        }
    }

    fn begin_outage(&mut self) {
        self.tally.outages += 1;
        self.trace.say(|| "the store answers nobody".to_owned());
        self.down_for = self.random.between(1, 10);
        if let Some(memory) = &self.storage.memory {
            memory.set_down(true);
        }
    }

    fn end_outage(&mut self) {
        if self.down_for > 0 {
            self.down_for -= 1;
            if self.down_for == 0 {
                self.trace.say(|| "the store answers again".to_owned());
                if let Some(memory) = &self.storage.memory {
                    memory.set_down(false);
                }
            }
        }
    }

    /// A server is gone with everything in its memory, and a new one takes its place.
    fn crash(&mut self) -> Result<(), String> {
        let at = self.some_server();
        self.tally.restarts += 1;
        self.trace.say(|| format!("server {} crashes", at + 1));
        // Ids carry the time, so that the next process makes others.
        self.pass(Duration::from_secs(2));
        self.servers[at] = Server::start(
            at as u16 + 1,
            self.config.clone(),
            &self.storage.store,
            &self.clock,
            self.faults.at_once,
        )?;
        if !self.faults.workers_survive {
            self.jobs.retain(|_, working| working.server != at);
        }
        // It may fail again over this, and is started once more.
        while let Err(error) = self.servers[at].recover() {
            self.expect_trouble(&error)?;
            self.trace.say(|| format!("server {} can't take up its work: {error}", at + 1));
            self.end_outage();
        }
        Ok(())
    }

    pub fn expire_leases(&mut self) {
        let at = self.some_server();
        self.tally.expired_leases += 1;
        self.trace.say(|| "leases run out".to_owned());
        if let Err(error) = self.servers[at].expire_leases() {
            self.trace.say(|| format!("leases can't be looked at: {error}"));
        }
    }

    pub fn fire_timers(&mut self) {
        let at = self.some_server();
        self.trace.say(|| "timers are looked at".to_owned());
        if let Err(error) = self.servers[at].fire_timers() {
            self.trace.say(|| format!("timers can't be looked at: {error}"));
        }
    }

    /// Nothing goes wrong any more.
    fn end_faults(&mut self) -> Result<(), String> {
        self.trace.say(|| "nothing goes wrong any more".to_owned());
        while self.down_for > 0 {
            self.end_outage();
        }
        if let Some(memory) = &self.storage.memory {
            memory.forget_faults();
        }
        self.faults.duplicates = 0;
        self.faults.deaf_jobs = 0;
        self.faults.strangers = 1000;
        Ok(())
    }
}
