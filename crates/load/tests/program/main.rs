//! `dbdyno-load` as a program: its contract, and its conduct with stores that fail. One test binary, so that it is linked once.

mod common;
mod conflicts;
mod connecting;
mod contract;
mod engine;
mod faults;
mod gaps;
mod groups;
mod honesty;
mod keyspaces;
mod loading;
mod spoiled;
