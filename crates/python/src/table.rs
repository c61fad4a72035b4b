//! Columns, handed over through the Arrow C data interface.

use crate::errors::refused;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, ArrowNativeTypeOp, BooleanArray, PrimitiveArray, RecordBatch,
    RecordBatchIterator, StringArray,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::sync::Arc;

/// A table of columns, in memory once however many readers it has.
#[pyclass(frozen, name = "Table", module = "ssdlab._native")]
pub struct PyTable {
    batch: RecordBatch,
}

/// Collects columns.
#[derive(Default)]
pub struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn push(&mut self, name: &str, array: ArrayRef) {
        let field = Field::new(name, array.data_type().clone(), true);
        self.fields.push(field);
        self.arrays.push(array);
    }

    /// Adds a column of numbers.
    pub fn numbers<T: ArrowPrimitiveType>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = Option<T::Native>>,
    ) {
        let array: PrimitiveArray<T> = values.into_iter().collect();
        self.push(name, Arc::new(array));
    }

    /// Adds a column of decimal numbers.
    pub fn decimals(&mut self, name: &str, values: impl IntoIterator<Item = Option<f64>>) {
        self.numbers::<Float64Type>(name, values);
    }

    /// Adds a column of counts.
    pub fn counts(&mut self, name: &str, values: impl IntoIterator<Item = Option<u64>>) {
        self.numbers::<UInt64Type>(name, values);
    }

    /// Adds a column of texts.
    pub fn texts(&mut self, name: &str, values: impl IntoIterator<Item = Option<String>>) {
        let array: StringArray = values.into_iter().collect();
        self.push(name, Arc::new(array));
    }

    /// The table.
    ///
    /// # Errors
    /// When the columns are not equally long.
    pub fn table(self) -> PyResult<PyTable> {
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(schema, self.arrays);
        let batch = batch.map_err(|error| refused(error.to_string(), ""))?;
        Ok(PyTable { batch })
    }
}

#[pymethods]
impl PyTable {
    /// A table from names, kinds (`float`, `int`, `count`, `str` or `bool`) and columns.
    #[new]
    fn new(
        names: Vec<String>,
        kinds: Vec<String>,
        columns: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<PyTable> {
        if names.len() != kinds.len() || names.len() != columns.len() {
            let counts = format!(
                "{} names, {} kinds, {} columns",
                names.len(),
                kinds.len(),
                columns.len()
            );
            return Err(refused(counts, "give every column a name and a kind"));
        }
        let mut table = Columns::default();
        for ((name, kind), column) in names.iter().zip(&kinds).zip(columns) {
            match kind.as_str() {
                "float" => table.decimals(name, column.extract::<Vec<Option<f64>>>()?),
                "count" => table.counts(name, column.extract::<Vec<Option<u64>>>()?),
                "int" => table.numbers::<Int64Type>(name, column.extract::<Vec<Option<i64>>>()?),
                "str" => table.texts(name, column.extract::<Vec<Option<String>>>()?),
                "bool" => {
                    let values = column.extract::<Vec<Option<bool>>>()?;
                    table.push(name, Arc::new(BooleanArray::from(values)));
                }
                other => {
                    let hint = "float, int, count, str or bool";
                    return Err(refused(format!("`{other}` is no kind of column"), hint));
                }
            }
        }
        table.table()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    /// Kinds of the columns.
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        let schema = self.batch.schema();
        let kind = |field: &Arc<Field>| match field.data_type() {
            DataType::Float64 => "float",
            DataType::UInt64 => "count",
            DataType::Int64 => "int",
            DataType::Boolean => "bool",
            _ => "str",
        };
        schema.fields().iter().map(kind).collect()
    }

    /// A column by its number, as a list; `None` where there is no value.
    fn column<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyList>> {
        if at >= self.batch.num_columns() {
            return Err(refused(format!("there is no column {at}"), ""));
        }
        let array = self.batch.column(at);
        let any = array.as_any();
        if let Some(array) = any.downcast_ref::<PrimitiveArray<Float64Type>>() {
            return list(py, array);
        }
        if let Some(array) = any.downcast_ref::<PrimitiveArray<UInt64Type>>() {
            return list(py, array);
        }
        if let Some(array) = any.downcast_ref::<PrimitiveArray<Int64Type>>() {
            return list(py, array);
        }
        if let Some(array) = any.downcast_ref::<BooleanArray>() {
            return PyList::new(py, array.iter().collect::<Vec<_>>());
        }
        match any.downcast_ref::<StringArray>() {
            Some(array) => PyList::new(py, array.iter().collect::<Vec<_>>()),
            None => Err(refused(format!("column {at} is of another kind"), "")),
        }
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref());
        let schema = schema.map_err(|error| refused(error.to_string(), ""))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The table as a stream of one batch. Its buffers are shared, not copied.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer's wish that a producer may leave unmet; the consumer then casts.
        drop(requested_schema);
        let batches = std::iter::once(Ok(self.batch.clone()));
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

fn list<'py, T: ArrowPrimitiveType>(
    py: Python<'py>,
    array: &PrimitiveArray<T>,
) -> PyResult<Bound<'py, PyList>>
where
    T::Native: IntoPyObject<'py> + ArrowNativeTypeOp,
{
    PyList::new(py, array.iter().collect::<Vec<_>>())
}
