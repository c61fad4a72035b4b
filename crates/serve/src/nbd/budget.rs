//! Memory for large requests, shared by all clients of a server.
//!
//! A thousand clients that each announce a write of 64 MiB and then stop, or read 64 MiB and do not
//! take it, would otherwise hold 64 GiB. Requests up to 2 MiB do not need it.

use super::wire::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a read or write up to which there is always memory.
pub(super) const FREE_BYTES: usize = 2 << 20;

/// Bytes for the payloads and replies of large requests.
#[derive(Debug)]
pub struct PayloadBudget(AtomicUsize);

impl Default for PayloadBudget {
    /// 2 GiB: 32 of the largest requests.
    fn default() -> Self {
        Self(AtomicUsize::new(2 << 30))
    }
}

/// Bytes taken out of a budget, which return when it is dropped.
pub(super) struct BudgetShare<'a>(&'a PayloadBudget, usize);

impl PayloadBudget {
    /// Whether a request takes of it.
    pub(super) fn is_asked_for(request: &ExtendedRequest) -> bool {
        let moves = request.payload() > 0 || request.command == CMD_READ;
        moves && request.length > FREE_BYTES as u64
    }

    /// Memory for a large request; otherwise the error number and its text for the client.
    pub(super) fn share(
        &self,
        request: &ExtendedRequest,
    ) -> Result<BudgetShare<'_>, (u32, String)> {
        if request.length > PAYLOAD_MAX.into() {
            let text = format!("more than {PAYLOAD_MAX} bytes in one request");
            return Err((EINVAL, text));
        }
        let text = "other clients' large requests hold the memory for it";
        let share = self.take(request.length as usize);
        share.ok_or_else(|| (ENOMEM, text.to_string()))
    }

    /// Takes `bytes`; `None` if fewer are left.
    pub(super) fn take(&self, bytes: usize) -> Option<BudgetShare<'_>> {
        let less = |left: usize| left.checked_sub(bytes);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .ok()
            .map(|_| BudgetShare(self, bytes))
    }
}

impl Drop for BudgetShare<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_add(self.1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_return() {
        let budget = PayloadBudget(AtomicUsize::new(10));
        let first = budget.take(6);
        assert!(first.is_some() && budget.take(5).is_none());
        let second = budget.take(4);
        assert!(second.is_some() && budget.take(1).is_none());
        drop(first);
        assert!(budget.take(6).is_some(), "and it returns at once");
        assert!(budget.take(6).is_some());
    }
}
