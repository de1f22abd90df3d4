//! `dbdyno-load`: executes one trial and nothing else. It reads a plan, writes records, and knows nothing of experiments or statistics.

mod arrivals;
mod client;
mod gaps;
mod groups;
mod histogram;
mod interval;
mod ledger;
mod limits;
mod loading;
mod markers;
mod null;
mod outcome;
mod pace;
mod phases;
mod plan;
mod query_plans;
mod read_back;
mod recorder;
mod records;
mod run;
mod session;
mod signals;
mod trial;
mod usage;
mod writes;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};

use crate::outcome::Outcome;
use crate::plan::Input;
use crate::records::Records;

#[derive(Parser)]
#[command(version = VERSION, about = "Executes one trial: a plan on stdin, records on stdout (docs/contract.md)")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Execute the plan on stdin.
    Run,
    /// Answer a protocol as fast as possible, with rows of a workload; for measuring a client alone.
    Null(null::Arguments),
}

const VERSION: &str = if cfg!(debug_assertions) {
    concat!(env!("CARGO_PKG_VERSION"), " (debug build)")
} else {
    concat!(env!("CARGO_PKG_VERSION"), " (release build)")
};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    limits::die_with_parent();
    match arguments.command {
        Command::Run => execute(),
        Command::Null(arguments) => null::serve(&arguments),
    }
}

fn execute() -> ExitCode {
    let records = Arc::new(Records::to_stdout());
    let outcome = match Input::read(std::io::stdin().lock()) {
        Ok(input) => {
            signals::listen();
            phases::execute(&input, &records)
        }
        Err(reason) => Outcome::Refused(reason),
    };
    records.end(&outcome);
    outcome.exit_code()
}
