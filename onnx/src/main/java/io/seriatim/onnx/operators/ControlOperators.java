package io.seriatim.onnx.operators;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.node.Size;
import io.seriatim.onnx.proto.OnnxGraph;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Branches and loops. */
public final class ControlOperators {
    /** A loop passes a value on with at most so many numbers of dimensions; each makes the body longer. */
    private static final int MOST_RANKS = 8;

    private ControlOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.all("If", ControlOperators::branch);
        operators.all("Loop", ControlOperators::loop);
        operators.all("Scan", ControlOperators::scan);
    }

    private static List<Ref> branch(Node node) {
        BlockBuilder block = node.block();
        long[] known = node.integers(0);
        if (known != null && known.length == 1) {
            String taken = known[0] != 0 ? "then_branch" : "else_branch";
            return node.graphs().translate(node.graph(taken), block, List.of());
        }
        List<IllegalArgumentException> failures = new ArrayList<>();
        return Branches.of(node, node.input(0),
                inner -> node.graphs().branch(node.graph("then_branch"), inner, failures),
                inner -> node.graphs().branch(node.graph("else_branch"), inner, failures));
    }

    private static @Nullable Ref limit(Node node) {
        return node.has(0) ? node.block().reshape(node.block().cast(node.input(0), DType.INT64), 1) : null;
    }

    private static Ref and(BlockBuilder block, Ref x, Ref y) {
        return block.op("logical_and").in("X", x).in("Y", y).out("Out");
    }

    private static Ref truth(BlockBuilder block) {
        return block.cast(block.integers(DType.INT64, 1), DType.BOOL);
    }

    /**
     * The numbers of dimensions of what steps pass on are found by translating the loop again as long as its body gives
     * others than those for which it has variables.
     */
    private static List<Ref> loop(Node node) {
        OnnxGraph body = node.graph("body");
        List<Ref> initial = node.all(2);
        if (body.inputs().size() != initial.size() + 2 || body.outputs().size() < initial.size() + 1) {
            throw node.error("passes on %d values, so that its body has %d inputs and at least %d outputs, but it has "
                    + "%d and %d", initial.size(), initial.size() + 2, initial.size() + 1, body.inputs().size(),
                    body.outputs().size());
        }
        long[] limit = node.has(0) ? node.integers(0) : null;
        long steps = limit == null || limit.length != 1 ? Long.MAX_VALUE : limit[0];
        List<@Nullable Set<Integer>> ranks = new ArrayList<>(Collections.nCopies(initial.size(), null));
        Runnable takeBack = node.block().checkpoint();
        // The k-th translation has variables for what k steps pass on.
        for (long k = 0;; k++) {
            List<Ref> results = loop(node, ranks, k < steps);
            if (results != null) {
                return results;
            }
            takeBack.run();
        }
    }

    /** Translates a loop; null if its steps pass on more numbers of dimensions, which are added to the given ones. */
    private static @Nullable List<Ref> loop(Node node, List<@Nullable Set<Integer>> ranks,
            boolean further) {
        BlockBuilder block = node.block();
        OnnxGraph body = node.graph("body");
        Ref limit = limit(node);
        Ref first = node.has(1) ? block.reshape(node.input(1), 1) : truth(block);
        Ref enough = limit == null
                ? first
                : and(block, first,
                        block.binary("less_than", block.integers(DType.INT64, 0), limit));
        Ref again = block.declare(ArgType.dense(DType.BOOL, 1));
        block.op("assign").in("X", enough).to("Out", again).append();
        LoopSteps steps = new LoopSteps(node, again);
        List<Ref> initial = node.all(2);
        for (int i = 0; i < initial.size(); i++) {
            steps.carry(initial.get(i), body.inputs().get(i + 2), ranks.get(i));
        }
        List<Ref> operands = new ArrayList<>();
        operands.add(steps.inner.reshape(steps.count));
        operands.add(steps.inner.reshape(again));
        operands.addAll(steps.carried(steps.inner));
        List<Ref> results = node.graphs().translate(body, steps.inner, operands);
        boolean complete = true;
        for (int i = 0; i < initial.size(); i++) {
            complete &= !widen(ranks, i, steps.missing(i, results.get(i + 1)), further);
        }
        if (!complete) {
            return null;
        }
        steps.collect(results.subList(initial.size() + 1, results.size()));
        Ref more = limit == null ? null : steps.inner.binary("less_than", steps.next(), limit);
        Ref follows;
        if (more != null && results.getFirst().equals(operands.get(1))) {
            // A body that returns the condition with which it was called has been called with true.
            follows = more;
        } else {
            Ref truth = LoopSteps.truth(node.in(steps.inner), results.getFirst());
            follows = more == null ? truth : and(steps.inner, truth, more);
        }
        Ref kept = steps.inner.op("assign").in("X", follows).out("Out");
        steps.passCarried(results.subList(1, initial.size() + 1));
        steps.end(kept);
        List<Ref> all = new ArrayList<>(steps.carried(block));
        all.addAll(steps.stacked());
        return all;
    }

    /** Adds numbers of dimensions of a value; whether there are new ones. */
    private static boolean widen(List<@Nullable Set<Integer>> ranks, int index, @Nullable Set<Integer> missing,
            boolean further) {
        Set<Integer> known = ranks.get(index);
        if (missing == null || (known != null && missing.isEmpty())) {
            return false;
        }
        Set<Integer> all = known == null ? new LinkedHashSet<>() : known;
        boolean wider = known == null;
        for (int rank : missing) {
            wider |= further && all.size() < MOST_RANKS - 1 && all.add(rank);
        }
        ranks.set(index, all);
        return wider;
    }

    private static List<Ref> scan(Node node) {
        if (node.version() < 9) {
            return scanOfBatches(node);
        }
        List<Ref> all = node.inputs(0);
        int scanned = scanned(node, all);
        int states = all.size() - scanned;
        int[] axes = axes(node, "scan_input_axes", all.subList(states, all.size()));
        boolean[] back = directions(node, "scan_input_directions", scanned);
        Ref length = Size.of(node.block(), all.get(states), axes[0]).tensor(node.block());
        return arranged(node, scan(node, all, axes, back, length), states);
    }

    /** How many operands are scanned: the last ones. */
    private static int scanned(Node node, List<Ref> all) {
        OnnxGraph body = node.graph("body");
        int scanned = node.int32("num_scan_inputs", 0);
        int states = all.size() - scanned;
        if (scanned < 1 || states < 0 || body.inputs().size() != all.size() || body.outputs().size() < states) {
            throw node.error("scans %d of its %d operands, but its body has %d inputs and %d outputs", scanned,
                    all.size(), body.inputs().size(), body.outputs().size());
        }
        return scanned;
    }

    /** The values that steps passed on, and what they gave along a new first axis. */
    private static List<Ref> scan(Node node, List<Ref> all, int[] axes, boolean[] back, Ref length) {
        BlockBuilder block = node.block();
        OnnxGraph body = node.graph("body");
        int states = all.size() - axes.length;
        Ref again = block.declare(ArgType.dense(DType.BOOL, 1));
        block.op("assign").in("X", block.binary("less_than", block.integers(DType.INT64, 0), length)).to("Out", again)
                .append();
        LoopSteps steps = new LoopSteps(node, again);
        for (int i = 0; i < states; i++) {
            steps.carry(all.get(i), body.inputs().get(i), null);
        }
        List<Ref> operands = new ArrayList<>(steps.states);
        BlockBuilder inner = steps.inner;
        for (int i = 0; i < axes.length; i++) {
            Ref last = inner.binary("elementwise_sub", length, inner.integers(DType.INT64, 1));
            Ref at = back[i] ? inner.binary("elementwise_sub", last, steps.count) : steps.count;
            operands.add(element(inner, all.get(states + i), axes[i], at));
        }
        List<Ref> results = node.graphs().translate(body, inner, operands);
        requireOneForm(node, results, states);
        steps.collect(results.subList(states, results.size()));
        Ref follows = inner.binary("less_than", steps.next(), length);
        steps.passCarried(results.subList(0, states));
        steps.end(follows);
        List<Ref> given = new ArrayList<>(steps.states);
        given.addAll(steps.stacked());
        return given;
    }

    /** The states of a scan keep their shapes, and what it transposes or reverses has one number of dimensions. */
    private static void requireOneForm(Node node, List<Ref> results, int states) {
        boolean plain = node.integers("scan_output_axes") == null && node.integers("scan_output_directions") == null;
        for (int i = 0; i < (plain ? states : results.size()); i++) {
            if (node.lists().choice(results.get(i)) != null) {
                throw node.error("output %d of its body has a number of dimensions that depends on a condition (%s), "
                        + "but a scan passes on, transposes and reverses values of one number of dimensions; reshape "
                        + "it in the body", i + 1, node.lists().describe(results.get(i)));
            }
        }
    }

    private static Ref element(BlockBuilder block, Ref x, int axis, Ref at) {
        return block.squeeze(block.op("gather").in("X", x).in("Index", at).attr("axis", axis).out("Out"), axis);
    }

    /** Version 8: all values have a first axis of batches, which are scanned by themselves, each to its own length. */
    private static List<Ref> scanOfBatches(Node node) {
        BlockBuilder block = node.block();
        List<Ref> all = node.inputs(1);
        int scanned = scanned(node, all);
        int states = all.size() - scanned;
        boolean[] back = directions(node, "directions", scanned);
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).rank() < (i < states ? 1 : 2)) {
                throw node.error("operand %d has an axis of batches%s, but is %s", i + 2,
                        i < states ? "" : " and one of steps", all.get(i).type());
            }
        }
        Ref batches = Size.of(block, all.get(states), 0).tensor(block);
        Ref longest = Size.of(block, all.get(states), 1).tensor(block);
        Ref again = block.declare(ArgType.dense(DType.BOOL, 1));
        block.op("assign").in("X", block.binary("less_than", block.integers(DType.INT64, 0), batches)).to("Out", again)
                .append();
        LoopSteps steps = new LoopSteps(node, again);
        BlockBuilder inner = steps.inner;
        Ref length = node.has(0)
                ? inner.cast(inner.op("gather").in("X", node.input(0)).in("Index", steps.count).attr("axis", 0)
                        .out("Out"), DType.INT64)
                : longest;
        List<Ref> own = all.stream().map(each -> element(inner, each, 0, steps.count)).toList();
        List<Ref> results = new ArrayList<>(scan(node.in(inner), own, new int[scanned], back, length));
        for (int i = states; node.has(0) && i < results.size(); i++) {
            // What follows the last step counts for nothing; ONNX Runtime has zeros.
            Ref missing = inner.binary("elementwise_sub", longest, length);
            results.set(i, inner.op("onnx_pad").in("X", results.get(i))
                    .in("Pads", inner.concat(0, List.of(inner.integers(DType.INT64, 0), missing)))
                    .in("Value", inner.scalar(results.get(i).dtype(), 0)).attr("axes", new int[]{0}).out("Out"));
        }
        steps.collect(results);
        steps.end(inner.binary("less_than", steps.next(), batches));
        return steps.stacked();
    }

    /** Reverses and transposes what the steps of a scan gave. */
    private static List<Ref> arranged(Node node, List<Ref> results, int states) {
        List<Ref> arranged = new ArrayList<>(results);
        List<Ref> lists = results.subList(states, results.size());
        int[] axes = axes(node, "scan_output_axes", lists);
        boolean[] back = directions(node, "scan_output_directions", lists.size());
        for (int i = 0; i < lists.size(); i++) {
            Ref each = lists.get(i);
            if (back[i]) {
                each = node.op("flip").in("X", each).attr("axis", new int[]{0}).out("Out");
            }
            if (axes[i] != 0) {
                int[] order = new int[each.rank()];
                for (int k = 0; k < order.length; k++) {
                    order[k] = k == axes[i] ? 0 : k < axes[i] ? k + 1 : k;
                }
                each = node.block().transpose(each, order);
            }
            arranged.set(states + i, each);
        }
        return arranged;
    }

    private static int[] axes(Node node, String attribute, List<Ref> values) {
        long[] given = node.integers(attribute);
        int[] axes = new int[values.size()];
        if (given != null && given.length != axes.length) {
            throw node.error("the attribute '%s' has one axis for each of %d values, but is %s", attribute,
                    axes.length, Numbers.text(given));
        }
        for (int i = 0; i < axes.length; i++) {
            axes[i] = given == null ? 0 : node.axis(given[i], values.get(i).rank());
        }
        return axes;
    }

    private static boolean[] directions(Node node, String attribute, int count) {
        long[] given = node.integers(attribute);
        if (given != null && given.length != count) {
            throw node.error("the attribute '%s' has one number for each of %d values, but is %s", attribute, count,
                    Numbers.text(given));
        }
        boolean[] back = new boolean[count];
        for (int i = 0; i < count; i++) {
            back[i] = given != null && given[i] != 0;
        }
        return back;
    }
}
