// What plain does (pool.h), in Rust with memmap2: a mapped file, slices of it, and msync by flush_range(). Each part has a page of its own.
use memmap2::MmapMut;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::process::exit;

const PAGE: usize = 4096;
const RECORDS: usize = 4;
const COUNT: usize = 0;
const DATA: usize = PAGE;
const FLAG: usize = 2 * PAGE;
const FORGOTTEN: usize = 3 * PAGE;
const RECORD: usize = 4 * PAGE;

fn persist(pool: &MmapMut, at: usize) {
    pool.flush_range(at, 64).unwrap();
}

fn fill(pool: &mut MmapMut) {
    for i in 0..RECORDS {
        let at = RECORD + i * 64;
        pool[at..at + 64].fill(i as u8 + 1);
        persist(pool, at);
        pool[COUNT] = i as u8 + 1;
        persist(pool, COUNT);
    }
    pool[DATA..DATA + 8].copy_from_slice(&7u64.to_le_bytes()); // BUG: ordering lost
    pool[FLAG] = 1; // BUG: ordering survived
    persist(pool, FLAG);
    persist(pool, DATA);
    pool[FORGOTTEN] = 1; // BUG: missing-flush-fence store
}

fn wrong(pool: &MmapMut) -> i32 {
    let count = pool[COUNT] as usize;
    if count > RECORDS {
        return 4;
    }
    for i in 0..count {
        let record = &pool[RECORD + i * 64..][..64];
        if record[0] != i as u8 + 1 || record[63] != i as u8 + 1 {
            return 5;
        }
    }
    if pool[FLAG] != 0 && pool[DATA] != 7 { 6 } else { 0 }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let is_check = words[1] == "check";
    let file = match OpenOptions::new().read(true).write(true).create(!is_check).open(&words[2]) {
        Err(e) if is_check && e.kind() == ErrorKind::NotFound => exit(0),
        Err(e) => panic!("{}: {e}", words[2]),
        Ok(file) => file,
    };
    if !is_check {
        file.set_len((RECORD + PAGE) as u64).unwrap();
    }
    if (file.metadata().unwrap().len() as usize) < RECORD + PAGE {
        exit(0);
    }
    let mut pool = unsafe { MmapMut::map_mut(&file).unwrap() };
    if is_check {
        exit(wrong(&pool));
    }
    fill(&mut pool);
}
