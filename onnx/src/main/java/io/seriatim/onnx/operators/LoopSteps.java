package io.seriatim.onnx.operators;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.proto.OnnxType;
import io.seriatim.onnx.proto.OnnxValue;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A loop that is being translated: values that steps pass on, and lists of what each step gives. */
final class LoopSteps {
    final Node node;
    final BlockBuilder outer;
    final BlockBuilder inner;
    final Ref count;
    final Ref again;
    final List<Ref> states = new ArrayList<>();
    final List<Ref> lists = new ArrayList<>();

    LoopSteps(Node node, Ref again) {
        this.node = node;
        this.outer = node.block();
        this.inner = outer.child();
        this.again = again;
        this.count = variable(outer.integers(DType.INT64, 0), ArgType.dense(DType.INT64, 1));
    }

    private Ref variable(Ref initial, ArgType type) {
        Ref variable = outer.declare(type);
        outer.op("assign").in("X", initial).to("Out", variable).append();
        return new Ref(variable.name(), type);
    }

    /** A value that steps pass on; a dimension is known if the graph says that it stays. */
    void state(Ref initial, OnnxValue declared) {
        long[] dims = initial.dims();
        long[] said = declared.type() instanceof OnnxType.OfTensor(int _, List<OnnxType.Dim> given)
                && given != null && given.size() == dims.length
                        ? given.stream().mapToLong(OnnxType.Dim::size).toArray()
                        : new long[0];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = said.length > 0 && said[i] == dims[i] ? dims[i] : -1;
        }
        states.add(variable(initial, ArgType.dense(initial.dtype(), dims)));
    }

    /** A value that steps pass on with the type that it has before the loop. */
    void state(Ref initial) {
        states.add(variable(initial, initial.type()));
    }

    /** Passes on what a step computes. */
    void pass(List<Ref> next) {
        List<Ref> safe = new ArrayList<>();
        for (int i = 0; i < next.size(); i++) {
            Ref each = next.get(i);
            Ref state = states.get(i);
            if (each.dtype() != state.dtype() || each.rank() != state.rank()) {
                throw node.error("value %d that its steps pass on keeps its type and rank, but is %s before and %s "
                        + "after a step", i + 1, state.type(), each.type());
            }
            boolean moves = states.contains(each) && !each.equals(state);
            safe.add(moves ? inner.op("assign").in("X", each).out("Out") : each);
        }
        for (int i = 0; i < next.size(); i++) {
            if (!safe.get(i).equals(states.get(i))) {
                inner.op("assign").in("X", safe.get(i)).to("Out", states.get(i)).append();
            }
        }
    }

    /** Adds what a step gives to lists. */
    void collect(List<Ref> given) {
        for (Ref each : given) {
            Ref list = outer.declare(ArgType.array(each.dtype(), each.dims()));
            Ref own = inner.op("assign").in("X", each).out("Out");
            inner.op("write_to_array").in("X", own).in("I", count).to("Out", list).append();
            lists.add(list);
        }
    }

    /** Ends a step: counts, and says whether another follows. */
    void end(Ref follows) {
        Ref next = inner.binary("elementwise_add", count, inner.integers(DType.INT64, 1));
        inner.op("assign").in("X", next).to("Out", count).append();
        inner.op("assign").in("X", follows).to("Out", again).append();
        List<Ref> written = new ArrayList<>(states);
        written.addAll(lists);
        written.add(count);
        written.add(again);
        Set<Ref> read = new LinkedHashSet<>(captured(inner.block()));
        Set<String> names = new LinkedHashSet<>();
        read.forEach(each -> names.add(each.name()));
        written.forEach(each -> names.add(each.name()));
        names.remove(again.name());
        List<Ref> operands = names.stream().map(name -> new Ref(name, ArgType.dense(DType.FLOAT32))).toList();
        outer.op("while").in("X", operands).in("Condition", again)
                .to("Out", written.stream().map(Ref::name).toList())
                .to("StepScopes", List.of(outer.declare(new VarType.Other(VarType.STEP_SCOPES))))
                .block("sub_block", inner.block()).attr("is_test", false).append();
    }

    /** A list as one tensor. */
    Ref stacked(int index) {
        Ref list = lists.get(index);
        return outer.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).attr("use_stack", true)
                .outs("Out", "OutIndex").getFirst();
    }

    /** The variables around a block that it or the blocks in it read. */
    static List<Ref> captured(Block block) {
        Set<String> names = new LinkedHashSet<>();
        collect(block, new LinkedHashSet<>(), names);
        List<Ref> refs = new ArrayList<>();
        for (String name : names) {
            refs.add(new Ref(name, ArgType.dense(DType.FLOAT32)));
        }
        return refs;
    }

    private static void collect(Block block, Set<String> around, Set<String> names) {
        Set<String> inside = new LinkedHashSet<>(around);
        block.vars().forEach(desc -> inside.add(desc.name()));
        for (OpDesc op : block.ops()) {
            op.inputNames().stream().filter(name -> !inside.contains(name)).forEach(names::add);
            op.attributes().forEach(each -> each.value().blocks()
                    .forEach(index -> collect(block.program().block(index), inside, names)));
        }
    }
}
