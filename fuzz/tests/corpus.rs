//! Every input that is kept, and inputs not far from these, through its decoder: what was found once stays found.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use dbdyno_fuzz::DECODERS;

const MUTANTS_PER_DECODER: u64 = 10_000;
const MOST_CHANGES: usize = 4;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn corpus(decoder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = folder().join(decoder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}: no input to begin with", folder.display());
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_folder_is_a_decoders() {
    let mut folders: Vec<String> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    assert_eq!(folders, DECODERS.iter().map(|(name, _)| (*name).to_string()).collect::<Vec<_>>());
}

#[test]
fn what_is_kept_is_decoded_or_refused() {
    for (name, decode) in DECODERS {
        for (path, bytes) in corpus(name) {
            assert!(catch_unwind(|| decode(&bytes)).is_ok(), "{}", path.display());
        }
    }
}

#[test]
fn what_is_near_it_is_decoded_or_refused() {
    for (name, decode) in DECODERS {
        let kept = corpus(name);
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..MUTANTS_PER_DECODER {
            let mutant = mutant(&kept, &mut random);
            assert!(catch_unwind(|| decode(&mutant)).is_ok(), "{name}: \"{}\"", mutant.escape_ascii());
        }
    }
}

/// One of the inputs after a few changes: bytes set, taken out or put in, the end cut off, or that of another input put on.
fn mutant(kept: &[(PathBuf, Vec<u8>)], random: &mut fastrand::Rng) -> Vec<u8> {
    const SHARP: &[u8] = b"\x00\x01\x7f\x80\xfa\xfb\xfc\xfd\xfe\xff\r\n -0$*";
    let any = |random: &mut fastrand::Rng| kept[random.usize(..kept.len())].1.clone();
    let mut bytes = any(random);
    for _ in 0..random.usize(1..=MOST_CHANGES) {
        let at = random.usize(..=bytes.len());
        match random.u8(..6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.u8(..8),
            1 if at < bytes.len() => bytes[at] = SHARP[random.usize(..SHARP.len())],
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => bytes.insert(at, SHARP[random.usize(..SHARP.len())]),
            4 => bytes.truncate(at),
            _ => {
                let other = any(random);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[random.usize(..=other.len())..]);
            }
        }
    }
    bytes
}
