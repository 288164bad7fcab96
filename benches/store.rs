//! Store operations per second: a write and a read of each of 1,000 files of 100 bytes.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use runvil::engine::store::{Glob, StoreOp};
use runvil::harness::Store;

const FILES: usize = 1_000;

/// The writes, then the reads.
fn operations() -> Vec<StoreOp> {
    let paths = || (0..FILES).map(|n| format!("notes/{n}.md"));
    let contents = "x".repeat(100);
    let writes = paths().map(|path| StoreOp::Write {
        path,
        contents: contents.clone(),
    });
    let reads = paths().map(|path| StoreOp::Read {
        path,
        start: None,
        end: None,
    });
    writes.chain(reads).collect()
}

fn perform_all(store: &Store, operations: &[StoreOp]) {
    for operation in operations {
        assert!(black_box(store.perform(operation)).is_ok());
    }
}

fn stores(criterion: &mut Criterion) {
    let operations = operations();
    let mut group = criterion.benchmark_group("store");
    group.throughput(Throughput::Elements(operations.len() as u64));
    group.bench_function("memory, fresh", |bencher| {
        bencher.iter(|| perform_all(&Store::memory(), &operations));
    });
    let warm = Store::memory();
    group.bench_function("memory, rewritten", |bencher| {
        bencher.iter(|| perform_all(&warm, &operations));
    });
    group.sample_size(10);
    group.bench_function("directory, rewritten", |bencher| {
        let (root, store) = directory();
        bencher.iter(|| perform_all(&store, &operations));
        drop(root);
    });
    group.finish();
}

fn appends(criterion: &mut Criterion) {
    let append = StoreOp::Append {
        path: "log".into(),
        contents: "x".repeat(100),
    };
    let mut group = criterion.benchmark_group("append");
    group.throughput(Throughput::Elements(FILES as u64));
    group.bench_function("memory", |bencher| {
        bencher.iter(|| {
            let store = Store::memory();
            (0..FILES).for_each(|_| assert!(store.perform(&append).is_ok()));
        });
    });
    group.finish();
}

fn globs(criterion: &mut Criterion) {
    let store = Store::memory();
    perform_all(&store, &operations());
    let mut group = criterion.benchmark_group("glob");
    group.bench_function("one of a thousand files", |bencher| {
        let glob = StoreOp::Glob {
            pattern: "notes/77*.md".into(),
        };
        bencher.iter(|| black_box(store.perform(&glob)));
    });
    group.bench_function("a hostile pattern", |bencher| {
        let pattern = "*a".repeat(340) + "b";
        let path = "a".repeat(1000);
        bencher.iter(|| Glob::new(&pattern).is_ok_and(|glob| glob.matches(black_box(&path))));
    });
    group.finish();
}

fn directory() -> (tempfile::TempDir, Store) {
    let made = tempfile::tempdir().and_then(|root| {
        let store = Store::directory(root.path())?;
        Ok((root, store))
    });
    match made {
        Ok(made) => made,
        Err(error) => panic!("no directory to measure on: {error}"),
    }
}

criterion_group!(benches, stores, appends, globs);
criterion_main!(benches);
