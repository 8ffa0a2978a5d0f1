// What plain does (pool.h), in Rust: maps a file, stores, flushes. The mistakes are the same, at lines of its own.
use std::arch::asm;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::io::AsRawFd;
use std::process::exit;
use std::ptr::{addr_of, addr_of_mut};

const RECORDS: usize = 4;
const BYTES: usize = 8192;

#[repr(C, align(64))]
struct Line([u64; 8]);

#[repr(C)]
struct Pool {
    count: Line,
    data: Line,
    flag: Line,
    forgotten: Line,
    record: [Line; RECORDS],
}

extern "C" {
    fn mmap(addr: *mut u8, len: usize, prot: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
}

#[cfg(target_arch = "x86_64")]
unsafe fn flush(p: *const u64) {
    asm!("clwb [{0}]", in(reg) p);
}

macro_rules! fence {
    () => { #[cfg(target_arch = "x86_64")] asm!("sfence"); #[cfg(target_arch = "aarch64")] asm!("dsb sy"); }; // BUG: redundant-fence fence
}

#[cfg(target_arch = "aarch64")]
unsafe fn flush(p: *const u64) {
    asm!("sys #3, c7, c12, #1, {0}", in(reg) p);
}

unsafe fn persist(p: *const u64) {
    flush(p);
    fence!();
}

unsafe fn fill(p: *mut Pool) {
    for i in 0..RECORDS {
        let record = addr_of_mut!((*p).record[i].0);
        (*record)[0] = i as u64 + 1;
        (*record)[7] = i as u64 + 1;
        persist(record as *const u64);
        let count = addr_of_mut!((*p).count.0[0]);
        count.write_volatile(i as u64 + 1);
        persist(count);
    }
    let (data, flag, forgotten) = (addr_of_mut!((*p).data.0[0]), addr_of_mut!((*p).flag.0[0]), addr_of_mut!((*p).forgotten.0[0]));
    data.write_volatile(7); // BUG: ordering lost
    flag.write_volatile(1); // BUG: ordering survived
    persist(flag);
    persist(data);
    forgotten.write_volatile(1); // BUG: missing-flush store
    fence!(); // nothing to wait for
}

unsafe fn wrong(p: *const Pool) -> i32 {
    let count = addr_of!((*p).count.0[0]).read_volatile() as usize;
    if count > RECORDS {
        return 4;
    }
    for i in 0..count {
        let record = addr_of!((*p).record[i].0);
        let (first, last) = (record as *const u64, (record as *const u64).add(7));
        if first.read_volatile() != i as u64 + 1 || last.read_volatile() != i as u64 + 1 {
            return 5;
        }
    }
    let (data, flag) = (addr_of!((*p).data.0[0]), addr_of!((*p).flag.0[0]));
    if flag.read_volatile() != 0 && data.read_volatile() != 7 { 6 } else { 0 }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let is_check = words[1] == "check";
    let file = match OpenOptions::new().read(true).write(true).create(!is_check).truncate(false).open(&words[2]) {
        Err(e) if is_check && e.kind() == ErrorKind::NotFound => exit(0),
        Err(e) => panic!("{}: {e}", words[2]),
        Ok(file) => file,
    };
    if !is_check {
        file.set_len(BYTES as u64).unwrap();
    }
    if (file.metadata().unwrap().len() as usize) < BYTES {
        exit(0);
    }
    unsafe {
        let p = mmap(std::ptr::null_mut(), BYTES, 3, 1, file.as_raw_fd(), 0) as *mut Pool;
        assert!(p as isize != -1);
        if is_check {
            exit(wrong(p));
        }
        fill(p);
    }
}
