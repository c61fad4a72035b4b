//! Requests of one client side by side, for drives on which commands take time: each waits on a
//! thread of its own and is answered when it is done, in whatever order that is.

use super::budget::{BudgetShare, FREE_BYTES, PayloadBudget};
use super::execute::Executor;
use super::head::RequestHead;
use super::input::ReceiveBuffer;
use super::wire::*;
use crate::lint::SessionNotes;
use crate::socket::SocketStream;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};

/// Most requests of one client at once, and most bytes of those that move less than
/// [`FREE_BYTES`]; what it asks beyond them stays in the socket.
const REQUESTS_MAX: usize = 256;
const BYTES_MAX: usize = 16 << 20;
/// Stack of a thread that carries out requests.
const STACK_BYTES: usize = 1 << 20;

/// A request and what it needs.
struct QueuedRequest<'a> {
    request: ExtendedRequest,
    payload: Vec<u8>,
    /// Memory of a large one, or why there is none: error number and text.
    share: Result<Option<BudgetShare<'a>>, (u32, String)>,
}

impl QueuedRequest<'_> {
    /// Bytes in memory that are not out of a share.
    fn bytes(&self) -> usize {
        match (&self.share, self.request.command) {
            (Ok(None), CMD_READ | CMD_WRITE) => FREE_BYTES.min(self.request.length as usize),
            _ => 0,
        }
    }
}

/// What the threads of one client have in common.
struct RequestPool<'a> {
    client: Mutex<&'a SocketStream>,
    inner: Mutex<RequestPoolState<'a>>,
    /// There is a job, or nothing more comes.
    came: Condvar,
    /// A job is done.
    went: Condvar,
}

#[derive(Default)]
struct RequestPoolState<'a> {
    jobs: VecDeque<QueuedRequest<'a>>,
    /// Jobs here and under way, and their bytes.
    open: usize,
    bytes: usize,
    /// Threads, and those of them that wait for a job.
    threads: usize,
    idle: usize,
    is_over: bool,
    /// Notes of the threads that have ended.
    notes: Vec<SessionNotes>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves requests until the client disconnects, breaks the protocol or the stream ends, and what
/// it had asked is answered.
///
/// # Errors
/// When the stream fails.
pub(super) fn run<'a>(
    executor: &mut Executor<'a>,
    budget: &'a PayloadBudget,
    socket: &'a SocketStream,
    input: &mut ReceiveBuffer,
) -> io::Result<()> {
    let desk = RequestPool {
        client: Mutex::new(socket),
        inner: Mutex::default(),
        came: Condvar::new(),
        went: Condvar::new(),
    };
    let result = std::thread::scope(|scope| {
        let result = receive(executor, budget, socket, input, &desk, scope);
        lock(&desk.inner).is_over = true;
        desk.came.notify_all();
        result
    });
    for notes in lock(&desk.inner).notes.drain(..) {
        executor.notes.add(notes);
    }
    result
}

/// Receives requests and gives them to threads, of which it begins as many as there are requests
/// at once.
fn receive<'scope, 'a: 'scope>(
    executor: &mut Executor<'a>,
    budget: &'a PayloadBudget,
    mut socket: &SocketStream,
    input: &mut ReceiveBuffer,
    desk: &'scope RequestPool<'a>,
    scope: &'scope Scope<'scope, '_>,
) -> io::Result<()> {
    loop {
        let Some(head) = RequestHead::next(executor.session.extended, input.ready()) else {
            if input.wait(&mut socket)? == 0 {
                return Ok(());
            }
            continue;
        };
        let Some((request, head_bytes)) = head.request() else {
            return Ok(());
        };
        if request.command == CMD_DISC {
            executor.notes.said_goodbye = true;
            return Ok(());
        }
        input.take(head_bytes);
        let share = if PayloadBudget::is_asked_for(&request) {
            budget.share(&request).map(Some)
        } else {
            Ok(None)
        };
        let (mut payload, bytes) = (Vec::new(), request.payload() as usize);
        match &share {
            Ok(_) => input.collect(&mut socket, bytes, &mut payload)?,
            Err(_) => input.skip(&mut socket, bytes)?,
        }
        let job = QueuedRequest {
            request,
            payload,
            share,
        };
        if desk.put(job) {
            let worker = executor.alone();
            let thread = Builder::new()
                .name("nbd request".to_owned())
                .stack_size(STACK_BYTES);
            // Without another thread, those that are there come to it later.
            if thread
                .spawn_scoped(scope, move || desk.work(worker))
                .is_err()
            {
                desk.thread_failed()?;
            }
        }
    }
}

impl<'a> RequestPool<'a> {
    /// Puts a job down, as soon as there is room for it; whether it needs another thread.
    fn put(&self, job: QueuedRequest<'a>) -> bool {
        let bytes = job.bytes();
        let is_full = |inner: &mut RequestPoolState<'_>| {
            inner.open > 0 && (inner.open >= REQUESTS_MAX || inner.bytes + bytes > BYTES_MAX)
        };
        let inner = self.went.wait_while(lock(&self.inner), is_full);
        let mut inner = inner.unwrap_or_else(PoisonError::into_inner);
        inner.open += 1;
        inner.bytes += bytes;
        inner.jobs.push_back(job);
        let needs_thread = inner.jobs.len() > inner.idle;
        inner.threads += usize::from(needs_thread);
        drop(inner);
        self.came.notify_one();
        needs_thread
    }

    /// The system gives no further thread.
    fn thread_failed(&self) -> io::Result<()> {
        let mut inner = lock(&self.inner);
        inner.threads -= 1;
        match inner.threads {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(()),
        }
    }

    /// The next job; `None` when nothing more comes.
    fn take(&self) -> Option<QueuedRequest<'a>> {
        let mut inner = lock(&self.inner);
        inner.idle += 1;
        let is_waiting = |inner: &mut RequestPoolState<'_>| inner.jobs.is_empty() && !inner.is_over;
        let inner_now = self.came.wait_while(inner, is_waiting);
        inner = inner_now.unwrap_or_else(PoisonError::into_inner);
        inner.idle -= 1;
        inner.jobs.pop_front()
    }

    /// Carries out jobs until nothing more comes.
    fn work(&self, mut executor: Executor<'a>) {
        let mut out = Vec::new();
        while let Some(job) = self.take() {
            answer(&mut executor, &job, &mut out);
            if lock(&self.client).write_all(&out).is_err() {
                // Nobody is there to be answered, and nothing more is to be received.
                lock(&self.client).hang_up();
            }
            out.clear();
            out.shrink_to(FREE_BYTES);
            let mut inner = lock(&self.inner);
            inner.open -= 1;
            inner.bytes -= job.bytes();
            drop(inner);
            self.went.notify_one();
        }
        lock(&self.inner).notes.push(executor.notes);
    }
}

/// Carries out a job, and settles it before it is acknowledged.
fn answer(executor: &mut Executor<'_>, job: &QueuedRequest<'_>, out: &mut Vec<u8>) {
    let reply = executor.reply(&job.request);
    match &job.share {
        Ok(_) => executor.run(&job.request, &job.payload, out),
        Err((number, text)) => {
            executor.notes.errors += 1;
            reply.error(out, *number, text);
        }
    }
    if let Err(error) = executor.drive.settle() {
        executor.refuse_all(&[reply], error, out);
    }
}
