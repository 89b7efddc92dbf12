"""Runs every benchmark and prints one table for each. Nothing is asserted but that results are right."""

from bench import aborts, checks, cold_start, console, end_to_end, flatness, history, intake, rebuild, single_flight


def main() -> None:
    """Print the tables that README quotes."""
    bare, app = intake.measure()
    print("| intake, 16 clients | per second | ratio |\n|---|---|---|")
    print(f"| bare script with the same two inserts | {bare:.0f} | 1 |")
    print(f"| the trigger function's app | {app:.0f} | {app / bare:.2f} |")

    bare, product = end_to_end.measure()
    print("\n| webhook to action at a local sink | executions per second | ratio |\n|---|---|---|")
    print(f"| the three bare scripts of an execution, 16 clients | {bare:.0f} | 1 |")
    print(f"| the product, batches of {end_to_end.BATCH} | {product:.0f} | {product / bare:.2f} |")

    print()
    checks.main()

    counts = aborts.measure()
    print("\n| clients that abort, beside 16 that don't | count |\n|---|---|")
    print(f"| aborted requests | {counts.aborted} |")
    print(f"| good requests | {counts.good} |")
    print(f"| good requests lost, failed, in conflict | {counts.lost}, {counts.failed}, {counts.conflicts} |")

    print()
    single_flight.main()

    rows = flatness.measure()
    fresh = rows[0]
    print("\n| p50, ms (ratio to fresh) | intake | claim of 1 | outcome of 1 | claim of 10 | outcome of 10 | SST |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        cells = " | ".join(f"{ms:.1f} ({ms / fresh.ms[name]:.1f})" for name, ms in row.ms.items())
        print(f"| {row.name} | {cells} | {row.sst_files} files, {row.sst_mib:.0f} MiB |")

    print()
    rebuild.main()

    print()
    history.main()

    print()
    console.main()

    print()
    cold_start.main()


if __name__ == "__main__":
    main()
