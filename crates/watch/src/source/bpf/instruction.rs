//! Instructions of eBPF, put together with labels.
//!
//! Source: Linux `Documentation/bpf/standardization/instruction-set.rst`.

/// A register. R0 has results, R1 to R5 arguments, R6 to R9 survive calls, R10 is the stack's top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reg {
    R0,
    R1,
    R2,
    R3,
    R6,
    R7,
    R8,
    R9,
    R10,
}

impl Reg {
    fn code(self) -> u64 {
        match self {
            Reg::R0 => 0,
            Reg::R1 => 1,
            Reg::R2 => 2,
            Reg::R3 => 3,
            Reg::R6 => 6,
            Reg::R7 => 7,
            Reg::R8 => 8,
            Reg::R9 => 9,
            Reg::R10 => 10,
        }
    }
}

/// Width of a load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 4 bytes.
    Word,
    /// 2 bytes.
    Half,
    /// 1 byte.
    Byte,
    /// 8 bytes.
    Double,
}

impl Width {
    fn code(self) -> u64 {
        match self {
            Width::Word => 0x00,
            Width::Half => 0x08,
            Width::Byte => 0x10,
            Width::Double => 0x18,
        }
    }

    /// Of a field of this many bytes.
    pub fn of_bytes(bytes: u32) -> Option<Width> {
        match bytes {
            1 => Some(Width::Byte),
            2 => Some(Width::Half),
            4 => Some(Width::Word),
            8 => Some(Width::Double),
            _ => None,
        }
    }
}

/// Arithmetic in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    Add = 0x00,
    Sub = 0x10,
    Mul = 0x20,
    Or = 0x40,
    And = 0x50,
    Lsh = 0x60,
    Rsh = 0x70,
    Mov = 0xb0,
}

/// Conditions of a jump, without sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    Always = 0x00,
    Equal = 0x10,
    Greater = 0x20,
    AtLeast = 0x30,
    AnyBit = 0x40,
    NotEqual = 0x50,
    Less = 0xa0,
}

/// Functions of the kernel that a program calls (Linux include/uapi/linux/bpf.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    MapLookup = 1,
    KtimeNs = 5,
}

/// A second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Reg(Reg),
    Value(i32),
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

impl From<i32> for Operand {
    fn from(value: i32) -> Operand {
        Operand::Value(value)
    }
}

/// A place in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

const LOAD: u64 = 0x61;
const STORE: u64 = 0x63;
const STORE_VALUE: u64 = 0x62;
const ALU64: u64 = 0x07;
const JUMP: u64 = 0x05;
const BY_REG: u64 = 0x08;
const CALL: u64 = 0x85;
const EXIT: u64 = 0x95;
/// Loads 64 bits from this instruction and the next one.
const LOAD_WIDE: u64 = 0x18;
/// In place of a source register: the value is a map's descriptor.
const PSEUDO_MAP: u64 = 1;

fn encode(opcode: u64, dst: u64, src: u64, offset: i16, value: i32) -> u64 {
    opcode | dst << 8 | src << 12 | u64::from(offset as u16) << 16 | u64::from(value as u32) << 32
}

/// A program while it is put together.
#[derive(Debug, Default)]
pub struct Assembly {
    code: Vec<u64>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

impl Assembly {
    /// A label that is placed later.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Places a label here.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    /// `dst = *(src + offset)`.
    pub fn load(&mut self, width: Width, dst: Reg, src: Reg, offset: i16) {
        let opcode = LOAD | width.code();
        self.code
            .push(encode(opcode, dst.code(), src.code(), offset, 0));
    }

    /// `*(dst + offset) = value`.
    pub fn store(&mut self, width: Width, dst: Reg, offset: i16, value: impl Into<Operand>) {
        let word = match value.into() {
            Operand::Reg(src) => encode(STORE | width.code(), dst.code(), src.code(), offset, 0),
            Operand::Value(value) => {
                encode(STORE_VALUE | width.code(), dst.code(), 0, offset, value)
            }
        };
        self.code.push(word);
    }

    /// `dst = dst op value`.
    pub fn alu(&mut self, op: Alu, dst: Reg, value: impl Into<Operand>) {
        let opcode = ALU64 | op as u64;
        let word = match value.into() {
            Operand::Reg(src) => encode(opcode | BY_REG, dst.code(), src.code(), 0, 0),
            Operand::Value(value) => encode(opcode, dst.code(), 0, 0, value),
        };
        self.code.push(word);
    }

    /// `dst = value`, of 64 bits.
    pub fn wide(&mut self, dst: Reg, value: u64) {
        self.wide_from(dst, 0, value);
    }

    /// `dst` = the map with this descriptor.
    pub fn map(&mut self, dst: Reg, descriptor: i32) {
        self.wide_from(dst, PSEUDO_MAP, u64::from(descriptor as u32));
    }

    fn wide_from(&mut self, dst: Reg, source: u64, value: u64) {
        self.code.push(encode(
            LOAD_WIDE,
            dst.code(),
            source,
            0,
            value as u32 as i32,
        ));
        self.code.push(value & (u64::from(u32::MAX) << 32));
    }

    /// Jumps when `dst condition value`.
    pub fn jump_if(&mut self, condition: Jump, dst: Reg, value: impl Into<Operand>, to: Label) {
        self.jumps.push((self.code.len(), to));
        let opcode = JUMP | condition as u64;
        let word = match value.into() {
            Operand::Reg(src) => encode(opcode | BY_REG, dst.code(), src.code(), 0, 0),
            Operand::Value(value) => encode(opcode, dst.code(), 0, 0, value),
        };
        self.code.push(word);
    }

    /// Jumps.
    pub fn jump(&mut self, to: Label) {
        self.jump_if(Jump::Always, Reg::R0, 0, to);
    }

    /// Calls a function of the kernel.
    pub fn call(&mut self, helper: Helper) {
        self.code.push(encode(CALL, 0, 0, 0, helper as i32));
    }

    /// Ends the program with 0.
    pub fn exit(&mut self) {
        self.alu(Alu::Mov, Reg::R0, 0);
        self.code.push(encode(EXIT, 0, 0, 0, 0));
    }

    /// The finished instructions.
    ///
    /// # Panics
    /// When a label was not placed, or is too far away.
    pub fn finish(mut self) -> Vec<u64> {
        for (jump, label) in std::mem::take(&mut self.jumps) {
            let target = self.labels[label.0].expect("every label is placed");
            let distance = target as i64 - jump as i64 - 1;
            let offset = i16::try_from(distance).expect("programs are short");
            self.code[jump] |= u64::from(offset as u16) << 16;
        }
        self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Held against what the kernel's own disassembler and clang write for the same lines.
    #[test]
    fn instructions_are_those_of_the_instruction_set() {
        let mut assembly = Assembly::default();
        let end = assembly.label();
        assembly.load(Width::Double, Reg::R7, Reg::R1, 8);
        assembly.store(Width::Word, Reg::R10, -4, Reg::R7);
        assembly.store(Width::Double, Reg::R8, 16, 0);
        assembly.alu(Alu::Mov, Reg::R6, Reg::R1);
        assembly.alu(Alu::And, Reg::R2, 255);
        assembly.jump_if(Jump::NotEqual, Reg::R2, 3, end);
        assembly.map(Reg::R1, 5);
        assembly.call(Helper::MapLookup);
        assembly.place(end);
        assembly.exit();
        let bytes: Vec<[u8; 8]> = assembly
            .finish()
            .into_iter()
            .map(u64::to_le_bytes)
            .collect();
        assert_eq!(
            bytes,
            [
                [0x79, 0x17, 8, 0, 0, 0, 0, 0],
                [0x63, 0x7a, 0xfc, 0xff, 0, 0, 0, 0],
                [0x7a, 0x08, 16, 0, 0, 0, 0, 0],
                [0xbf, 0x16, 0, 0, 0, 0, 0, 0],
                [0x57, 0x02, 0, 0, 255, 0, 0, 0],
                [0x55, 0x02, 3, 0, 3, 0, 0, 0],
                [0x18, 0x11, 0, 0, 5, 0, 0, 0],
                [0, 0, 0, 0, 0, 0, 0, 0],
                [0x85, 0, 0, 0, 1, 0, 0, 0],
                [0xb7, 0, 0, 0, 0, 0, 0, 0],
                [0x95, 0, 0, 0, 0, 0, 0, 0],
            ]
        );
    }
}
