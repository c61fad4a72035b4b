//! The terminal of a screen: taken over, drawn on by a thread that also reads keys, given back.

use super::look::ScreenLook;
use super::{ScreenView, draw};
use crate::report::{WatchProgress, WatchReport};
use crate::request::BlockRequest;
use ratatui::DefaultTerminal;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ssdlab_base::LabError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a key waits at most.
const KEY_WAIT: Duration = Duration::from_millis(100);

/// Whether a screen may draw: not after the terminal was given back.
static MAY_DRAW: AtomicBool = AtomicBool::new(false);
/// Held while a frame is drawn.
static FRAME: Mutex<()> = Mutex::new(());

#[derive(Default)]
struct ScreenState {
    live: ScreenView,
    /// What is shown while the picture stands still.
    still: Option<ScreenView>,
    is_stale: bool,
    begun_ns: u64,
}

struct SharedScreen {
    state: Mutex<ScreenState>,
    look: ScreenLook,
    stop: Arc<AtomicBool>,
}

impl SharedScreen {
    fn state(&self) -> MutexGuard<'_, ScreenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The screen of a watch. The terminal is given back when it is dropped, and when the program
/// panics in any thread.
pub struct Screen {
    shared: Arc<SharedScreen>,
    thread: Option<JoinHandle<()>>,
}

/// Gives the terminal back, once.
fn give_back() {
    // The thread that draws may be the one that panicked: then nobody else draws.
    let _frame = FRAME.try_lock();
    if MAY_DRAW.swap(false, Ordering::SeqCst) {
        ratatui::restore();
        let _ = execute!(std::io::stdout(), Show);
    }
}

impl Screen {
    /// Takes the terminal over. `stop` is set when the user wants to end; `note` stands in the
    /// first line.
    ///
    /// # Errors
    /// When the terminal cannot be used so.
    pub fn open(look: ScreenLook, note: &str, stop: Arc<AtomicBool>) -> Result<Screen, LabError> {
        let terminal = ratatui::try_init().map_err(|error| {
            LabError::refused(
                format!("cannot draw on this terminal: {error}"),
                "--plain prints lines instead",
            )
        })?;
        MAY_DRAW.store(true, Ordering::SeqCst);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            hook(panic);
        }));
        let shared = Arc::new(SharedScreen {
            state: Mutex::default(),
            look,
            stop,
        });
        shared.state().live.note = note.to_owned();
        let drawn = Arc::clone(&shared);
        let thread = std::thread::spawn(move || run(terminal, &drawn));
        Ok(Screen {
            shared,
            thread: Some(thread),
        })
    }

    /// Whether the user has paused.
    pub fn is_paused(&self) -> bool {
        self.shared.state().still.is_some()
    }

    /// Puts other words into the first line.
    pub fn note(&mut self, note: &str) {
        let mut state = self.shared.state();
        state.live.note = note.to_owned();
        state.is_stale = true;
    }
}

impl WatchProgress for Screen {
    fn begins(&mut self, begun_ns: u64) {
        self.shared.state().begun_ns = begun_ns;
    }

    fn request(&mut self, request: &BlockRequest) {
        let mut state = self.shared.state();
        let begun_ns = state.begun_ns;
        state.live.request(request, begun_ns);
    }

    fn second(&mut self, report: &WatchReport) {
        let mut state = self.shared.state();
        state.live.second(report);
        state.is_stale = true;
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        if let Some(thread) = self.thread.take() {
            // It has said why it panicked, if it did.
            let _ = thread.join();
        }
    }
}

fn run(mut terminal: DefaultTerminal, shared: &SharedScreen) {
    let mut is_stale = true;
    while MAY_DRAW.load(Ordering::SeqCst) {
        is_stale |= std::mem::take(&mut shared.state().is_stale);
        if is_stale && show(&mut terminal, shared).is_err() {
            // The terminal is gone.
            shared.stop.store(true, Ordering::Relaxed);
            return;
        }
        is_stale = match event::poll(KEY_WAIT) {
            Ok(true) => match event::read() {
                Ok(event) => react(&event, shared),
                Err(_) => return,
            },
            Ok(false) => false,
            Err(_) => return,
        };
    }
}

fn show(terminal: &mut DefaultTerminal, shared: &SharedScreen) -> std::io::Result<()> {
    let _frame = FRAME.lock().unwrap_or_else(PoisonError::into_inner);
    if !MAY_DRAW.load(Ordering::SeqCst) {
        return Ok(());
    }
    let state = shared.state();
    let view = state.still.as_ref().unwrap_or(&state.live);
    terminal.draw(|frame| draw(view, shared.look, frame.area(), frame.buffer_mut()))?;
    Ok(())
}

/// Does what a key asks for; whether to draw again.
fn react(event: &Event, shared: &SharedScreen) -> bool {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => press(key, shared),
        Event::Resize(..) => true,
        _ => false,
    }
}

fn press(key: &KeyEvent, shared: &SharedScreen) -> bool {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if is_control => shared.stop.store(true, Ordering::Relaxed),
        KeyCode::Char('q') | KeyCode::Esc => shared.stop.store(true, Ordering::Relaxed),
        KeyCode::Char('p' | ' ') if !is_control => {
            let mut state = shared.state();
            state.still = match state.still.take() {
                Some(_) => None,
                None => Some(ScreenView {
                    is_paused: true,
                    ..state.live.clone()
                }),
            };
        }
        KeyCode::Right | KeyCode::Left => {
            let is_forward = key.code == KeyCode::Right;
            let mut state = shared.state();
            state.live.turn(is_forward);
            if let Some(still) = &mut state.still {
                still.turn(is_forward);
            }
        }
        _ => return false,
    }
    true
}
