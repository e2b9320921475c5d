package io.seriatim.executor;

import com.google.errorprone.annotations.FormatMethod;
import io.seriatim.device.Place;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.MemoryPlan;
import io.seriatim.executor.schedule.Streams;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Prints a plan, with one section for each step of compilation. */
final class PlanText {
    private final PlanView view;
    private final CompiledPlan plan;
    private final ValueTable values;
    private final StringBuilder text = new StringBuilder();

    PlanText(PlanView view) {
        this.view = view;
        this.plan = view.plan();
        this.values = plan.values();
    }

    String text() {
        head();
        variables();
        kernels();
        transfers();
        blocks();
        dependencies();
        streams();
        lifetimes();
        memory();
        return text.toString();
    }

    @FormatMethod
    private void line(String format, Object... args) {
        Object[] printable = Arrays.stream(args).map(arg -> arg instanceof String name ? Printable.of(name) : arg)
                .toArray();
        text.append(String.format(Locale.ROOT, format, printable)).append('\n');
    }

    private void head() {
        Options options = view.options();
        String fed = plan.accesses().values().stream().filter(value -> value.origin() == ValueNumbering.Origin.FED)
                .map(ValueNumbering.Value::name)
                .distinct().collect(Collectors.joining(", "));
        line("plan of %d operations in %d tasks, on %s with %d thread%s, %s", plan.accesses().operations().size(),
                plan.tasks().size(),
                options.place(), options.threads(), options.threads() == 1 ? "" : "s",
                options.inOrder() && plan.streams().isHostOnly()
                        ? "in the order of the program"
                        : "in any order that dependencies allow");
        line("fed      %s", fed.isEmpty() ? "nothing" : fed);
        line("fetched  %s", view.fetches().isEmpty() ? "nothing" : String.join(", ", view.fetches()));
    }

    private void variables() {
        List<ValueNumbering.Value> all = plan.accesses().values();
        line("%n1 variables: %d values of %d variables", all.size(),
                all.stream().map(ValueNumbering.Value::name).distinct().count());
        Table table = new Table("value", "variable", "origin", "persistable", "type");
        for (int i = 0; i < all.size(); i++) {
            ValueNumbering.Value value = all.get(i);
            String type = values.spec(i) == null ? "known at run time" : String.valueOf(values.spec(i));
            table.row(i, value.name(), value.origin().name().toLowerCase(Locale.ROOT),
                    value.persistable() ? "yes" : "no",
                    values.constant(i) == null ? type : type + ", constant");
        }
        table.print();
    }

    private void kernels() {
        line("%n2 kernels: %d tasks", plan.tasks().size());
        Table table = new Table("task", "operations", "place", "kernels");
        Set<Access> carriedOut = new HashSet<>();
        for (int i = 0; i < plan.tasks().size(); i++) {
            Task task = plan.tasks().get(i);
            carriedOut.addAll(task.operations());
            table.row(i, task.name(), task.place(), view.kernels(task));
        }
        table.print();
        kept();
        Map<String, Integer> left = new TreeMap<>();
        plan.accesses().operations().stream().filter(access -> !carriedOut.contains(access))
                .forEach(access -> left.merge(access.op().type(), 1, Integer::sum));
        if (!left.isEmpty()) {
            line("  without a task, because compilation has evaluated or eliminated them: %s",
                    left.entrySet().stream().map(entry -> entry.getValue() + " " + entry.getKey())
                            .collect(Collectors.joining(", ")));
        }
    }

    private void kept() {
        if (!plan.kept().isEmpty()) {
            line("  results of variables alone, computed only when these change: %d of %d bytes, by %d kernels",
                    plan.kept().stream().mapToLong(kept -> kept.values().size()).sum(),
                    plan.kept().stream().flatMap(kept -> kept.recipe().results().stream()).mapToLong(TensorSpec::bytes)
                            .sum(),
                    plan.kept().stream().mapToLong(kept -> kept.kernels().size()).sum());
            Map<String, Integer> kinds = new TreeMap<>();
            plan.kept().stream().flatMap(kept -> kept.recipe().steps().stream())
                    .forEach(step -> kinds.merge(step.computation().operation(), 1, Integer::sum));
            line("    %s", kinds.entrySet().stream().map(entry -> entry.getValue() + " " + entry.getKey())
                    .collect(Collectors.joining(", ")));
        }
    }

    private void transfers() {
        Table table = new Table("task", "transfer", "of", "from", "to", "bytes");
        for (int i = 0; i < plan.tasks().size(); i++) {
            if (plan.tasks().get(i) instanceof Task.Transfer transfer) {
                table.row(i, transfer.name(), view.label(transfer.from()), transfer.source(), transfer.target(),
                        size(transfer.from()));
            }
        }
        line("%n  transfers: %s", table.isEmpty() ? "none" : table.size());
        table.print();
    }

    private void blocks() {
        Table table = new Table("task", "operation", "block", "operations");
        for (int i = 0; i < plan.tasks().size(); i++) {
            for (Access access : plan.tasks().get(i).operations()) {
                for (var attribute : access.op().attributes()) {
                    for (int block : attribute.value().blocks()) {
                        table.row(i, access.op().type(), block,
                                plan.accesses().block().program().block(block).ops().size());
                    }
                }
            }
        }
        if (!table.isEmpty()) {
            line("%n  blocks: each is compiled when it runs, for the shapes of that run");
            table.print();
        }
    }

    private void dependencies() {
        long more = 0;
        Table table = new Table("task", "operations", "waits for");
        for (int i = 0; i < plan.tasks().size(); i++) {
            List<String> waits = new ArrayList<>();
            for (PlanView.Edge edge : view.edges(i)) {
                waits.add(edge.from() + (edge.reason() == PlanView.Reason.DATA
                        ? ""
                        : " (" + edge.reason().name().toLowerCase(Locale.ROOT) + ")"));
                more += edge.reason() == PlanView.Reason.MEMORY ? 1 : 0;
            }
            table.row(i, plan.tasks().get(i).name(), waits.isEmpty() ? "-" : String.join(", ", waits));
        }
        line("%n3 dependencies: %,d found, %,d kept, %,d more for the sake of memory", plan.dependencies().found(),
                plan.dependencies().kept(),
                more);
        table.print();
    }

    private void streams() {
        Streams streams = plan.streams();
        if (streams.isHostOnly()) {
            line("%n4 streams and events: none, all is on the host");
            return;
        }
        line("%n4 streams and events: %d streams, %d events", streams.streams().size(), streams.events());
        Table list = new Table("stream", "what");
        for (int i = 0; i < streams.streams().size(); i++) {
            list.row(i, streams.streams().get(i));
        }
        list.print();
        Table table = new Table("task", "operations", "stream", "waits for events of", "records one");
        for (int i = 0; i < plan.tasks().size(); i++) {
            int stream = streams.stream()[i];
            int[] waits = stream < 0 ? streams.hostWaits()[i] : streams.waits()[i];
            if (stream >= 0 || waits.length > 0) {
                table.row(i, plan.tasks().get(i).name(), stream < 0 ? "host" : stream,
                        waits.length == 0
                                ? "-"
                                : Arrays.stream(waits).mapToObj(String::valueOf).collect(Collectors.joining(", ")),
                        streams.recorded()[i] ? "yes" : "no");
            }
        }
        table.print();
    }

    private void lifetimes() {
        int[] memories = view.memories();
        line("%n5 lifetimes: %d values with memory", memories.length);
        Table table = new Table("value", "variable", "first", "last", "last used by", "bytes", "memory");
        for (int value : memories) {
            int first = view.lifetimes().first()[value];
            int last = view.lifetimes().last(value);
            table.row(value, values.name(value), first < 0 ? "before" : first, last, plan.tasks().get(last).name(),
                    size(value),
                    where(value));
        }
        table.print();
    }

    private String where(int value) {
        return plan.memory().offsets()[value] >= 0
                ? "arena"
                : values.origin(value) == ValueNumbering.Origin.FED
                        ? "the caller's"
                        : values.isPersistable(value) || values.origin(value) == ValueNumbering.Origin.OUTSIDE
                                ? "the scope's"
                                : values.constant(value) != null
                                        ? "the plan's"
                                        : values.isWanted(value) ? "own, wanted" : "own";
    }

    private String size(int value) {
        long bytes = view.bytes(value);
        return bytes < 0 ? "?" : String.format(Locale.ROOT, "%,d", bytes);
    }

    /** A range of an arena and its label. */
    private record Piece(Place place, long from, long to, String what) {
    }

    private void memory() {
        MemoryPlan memory = plan.memory();
        line("%n6 memory: %,d bytes in all, %,d without sharing, largest live set %,d, in place %d",
                memory.arenaBytes(), memory.sum(),
                memory.live(), memory.inPlace());
        memory.arenas().forEach((place, bytes) -> line("  arena of %s: %,d bytes", place, bytes));
        List<Piece> pieces = new ArrayList<>();
        for (int value : view.memories()) {
            long offset = memory.offsets()[value];
            if (offset >= 0) {
                pieces.add(new Piece(view.place(value), offset, offset + view.bytes(value), view.label(value)));
            }
        }
        for (int i = 0; i < plan.tasks().size(); i++) {
            if (plan.tasks().get(i) instanceof Task.Compute compute) {
                for (int j = 0; j < memory.temporaries()[i].length; j++) {
                    long offset = memory.temporaries()[i][j];
                    pieces.add(new Piece(compute.place(), offset, offset + compute.temporaries().get(j).bytes(),
                            "temporary of task " + i));
                }
            }
        }
        pieces.sort(Comparator.comparing((Piece piece) -> piece.place().toString()).thenComparingLong(Piece::from)
                .thenComparingLong(Piece::to));
        Table table = new Table("place", "from", "to", "value");
        pieces.forEach(piece -> table.row(piece.place(), String.format(Locale.ROOT, "%,d", piece.from()),
                String.format(Locale.ROOT, "%,d", piece.to()), piece.what()));
        table.print();
    }

    /** A table with aligned columns; columns of numbers are right-aligned. */
    private final class Table {
        private final List<List<String>> rows = new ArrayList<>();

        Table(String... heads) {
            rows.add(List.of(heads));
        }

        void row(Object... cells) {
            rows.add(Arrays.stream(cells).map(cell -> Printable.of(String.valueOf(cell))).toList());
        }

        int size() {
            return rows.size() - 1;
        }

        boolean isEmpty() {
            return size() == 0;
        }

        void print() {
            if (isEmpty()) {
                return;
            }
            int columns = rows.getFirst().size();
            int[] widths = new int[columns];
            boolean[] numbers = new boolean[columns];
            for (int i = 0; i < columns; i++) {
                int column = i;
                widths[i] = rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
                numbers[i] = i < columns - 1 && rows.stream().skip(1).map(row -> row.get(column))
                        .allMatch(cell -> cell.equals("before") || cell.equals("?")
                                || cell.chars().allMatch(c -> c == ',' || (c >= '0' && c <= '9')));
            }
            for (List<String> row : rows) {
                StringBuilder line = new StringBuilder();
                for (int i = 0; i < columns; i++) {
                    String space = " ".repeat(widths[i] - row.get(i).length());
                    line.append("  ").append(numbers[i] ? space + row.get(i) : row.get(i) + space);
                }
                text.append(line.toString().stripTrailing()).append('\n');
            }
        }
    }
}
