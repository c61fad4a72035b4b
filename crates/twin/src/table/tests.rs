use super::*;

const HEAD: &str = "load,used_pct,overwrites,write_mibs,waf,drift_pct\nsequential,,,1000,,\n";

fn read(rows: &str) -> Result<MeasurementTable, LabError> {
    parse(&format!("{HEAD}{rows}"), "t.csv")
}

#[test]
fn rows_come_with_their_units() {
    let table = read("# quiet drive\nuniform,50,2,500,1.1,0\nzipf:0.8,,5,400,,-4\n").unwrap();
    assert_eq!(table.sequential, 1000.0 * 1_048_576.0);
    let row = &table.rows[0];
    assert_eq!(
        (row.load.used, row.load.overwrites, row.waf),
        (0.5, 2.0, Some(1.1))
    );
    assert_eq!(row.line, 4);
    assert!(
        table.rows[1]
            .left_out
            .as_deref()
            .unwrap()
            .contains("drifting")
    );
    assert_eq!(table.used().count(), 1);
    let iops = parse(
        "load,overwrites,iops\nsequential,,1000\nuniform,3,250\n",
        "t",
    )
    .unwrap();
    assert_eq!(iops.rows[0].rate, 250.0 * 4096.0);
}

#[test]
fn what_cannot_be_is_refused_with_its_line() {
    let cases = [
        ("uniform,100,5,1100,,\n", "t.csv:3", "above the sequential"),
        ("uniform,100,5,5,,\n", "t.csv:3", "sequential rate"),
        (
            "uniform,100,5,500,,\nuniform,100,5,350,,\n",
            "t.csv:4",
            "line 3 has",
        ),
        ("randomly,100,5,500,,\n", "t.csv:3", "not a load"),
        ("uniform,150,5,500,,\n", "t.csv:3", "1 to 100"),
        (
            "uniform,100,,500,,\n",
            "t.csv:3",
            "overwritten is not given",
        ),
        ("uniform,100,5,,,\n", "t.csv:3", "empty"),
        ("uniform,100,5,NaN,,\n", "t.csv:3", "NaN"),
        ("uniform,100,5,500,0.5,\n", "t.csv:3", "1 or more"),
        ("uniform,100,5\n", "t.csv:3", "3 cells"),
        ("sequential,,,900,,\n", "t.csv:3", "second row"),
    ];
    for (rows, place, what) in cases {
        let error = read(rows).expect_err(rows);
        let text = error.to_string();
        assert!(
            text.contains(place) && text.contains(what),
            "{rows}: {text}"
        );
        assert!(!error.hint().is_empty(), "{rows}");
    }
    for head in [
        "",
        "load,overwrites,write_kbs",
        "load,overwrites",
        "overwrites,iops",
        "a",
    ] {
        assert!(parse(&format!("{head}\n"), "t").is_err(), "{head}");
    }
    let error = parse("load,overwrites,iops\nuniform,5,100\n", "t").unwrap_err();
    assert!(error.to_string().contains("no row `sequential`"));
}

#[test]
fn the_rate_before_the_cliff_has_a_unit_of_its_own_and_limits() {
    let head = "load,overwrites,write_mbs,cliff,before_iops\nsequential,,1000,,\n";
    let read = |row: &str| parse(&format!("{head}{row}\n"), "t.csv");
    let table = read("uniform,5,500,0.3,200000").unwrap();
    assert_eq!(table.rows[0].before, Some(200_000.0 * 4096.0));
    assert_eq!(read("uniform,5,500,0.3,").unwrap().rows[0].before, None);
    for (before, what) in [
        ("300000", "before the cliff is above the sequential"),
        ("100000", "before the cliff is below the settled"),
        ("0", "a rate above 0"),
    ] {
        let error = read(&format!("uniform,5,500,0.3,{before}")).expect_err(before);
        let text = error.to_string();
        assert!(text.contains("t.csv:3") && text.contains(what), "{text}");
    }
    let two = "load,overwrites,iops,before_iops,before_mbs\n";
    assert!(parse(two, "t").unwrap_err().to_string().contains("before"));
}

#[test]
fn few_overwrites_are_no_settled_rate() {
    let table = read("uniform,100,1,500,,\nuniform,50,1,500,,\n").unwrap();
    assert!(table.rows[0].left_out.is_some() && table.rows[1].left_out.is_none());
}
