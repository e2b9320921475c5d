package io.seriatim.onnx.operators;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.ElementShapes;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.proto.OnnxType;
import io.seriatim.onnx.proto.OnnxValue;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A loop that is being translated: values that steps pass on, and lists of what each step gives. */
final class LoopSteps {
    final Node node;
    final BlockBuilder outer;
    final BlockBuilder inner;
    final Ref count;
    final Ref again;
    /** The variables that steps pass on. */
    final List<Ref> states = new ArrayList<>();
    /** Arrays of what each step gives. */
    final List<Ref> lists = new ArrayList<>();
    private final List<Carried> carried = new ArrayList<>();
    private final List<Stacked> stacks = new ArrayList<>();
    private @Nullable Ref next;

    /** A value that steps pass on in some of the variables. */
    private record Carried(Form form, Ref initial) {
    }

    /**
     * What each step gives, in one array, or in one for each of several types.
     *
     * @param form
     *            null if it always has one type
     * @param first
     *            the number of its first array
     * @param chosen
     *            for each of several types, whether the last step gave it
     */
    private record Stacked(Form.@Nullable OfChoice form, int first, List<Ref> chosen) {
    }

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

    /**
     * A value of any kind that steps pass on.
     *
     * @param ranks
     *            numbers of dimensions that steps give a tensor; null if they all give that which it has before the
     *            first
     */
    void carry(Ref initial, OnnxValue declared, @Nullable Set<Integer> ranks) {
        Form form = ranks == null ? form(initial, declared.type()) : choice(initial, ranks);
        Iterator<Form> parts = form.parts().iterator();
        for (Ref variable : form.variables(node, outer, initial)) {
            Form part = parts.next();
            states.add(part instanceof Form.OfTensor(ArgType type)
                    ? variable(variable, type)
                    : Form.copied(node, outer, variable, outer, part));
            if (form instanceof Form.OfChoice || part instanceof Form.OfTensor) {
                redeclare(states.getLast());
            }
        }
        carried.add(new Carried(form, initial));
    }

    /**
     * An assignment declares the dimensions of what it assigns, which other steps need not pass on: the body would take
     * those of the first value for the sizes of all.
     */
    private void redeclare(Ref state) {
        outer.block().put(outer.block().get(state.name()).with(state.type().varType()));
    }

    /** Tensors of several numbers of dimensions, of which all are unknown. */
    private static Form choice(Ref initial, Set<Integer> ranks) {
        Set<Integer> all = new LinkedHashSet<>(List.of(initial.rank()));
        all.addAll(ranks);
        return new Form.OfChoice(initial.dtype(), all.stream().map(rank -> {
            long[] dims = new long[rank];
            Arrays.fill(dims, -1);
            return ArgType.dense(initial.dtype(), dims);
        }).toList());
    }

    /**
     * The numbers of dimensions that a step gives a value for which the loop has no variable yet.
     *
     * @param index
     *            of the value among those that steps pass on
     * @param next
     *            what a step gives
     * @return null if the value always has the number that it has before the first step, or is no tensor
     */
    @Nullable
    Set<Integer> missing(int index, Ref next) {
        Lists values = node.lists();
        Form form = carried.get(index).form;
        boolean one = form instanceof Form.OfTensor(ArgType type) && Lists.isTensor(next)
                && next.rank() == type.dims().length;
        if (one || !(form instanceof Form.OfTensor || form instanceof Form.OfChoice)
                || next.dtype() != carried.get(index).initial.dtype()
                || !values.leaves(next).stream().allMatch(Lists::isTensor)) {
            return null;
        }
        Set<Integer> ranks = new LinkedHashSet<>();
        for (Ref leaf : values.leaves(next)) {
            if (!(form instanceof Form.OfChoice choice && choice.has(leaf.type()))) {
                ranks.add(leaf.rank());
            }
        }
        return ranks;
    }

    /** In what variables steps pass on a value: lists change their lengths, and tensors perhaps their dimensions. */
    private Form form(Ref initial, @Nullable OnnxType declared) {
        Lists values = node.lists();
        if (values.isOptional(initial) || declared instanceof OnnxType.Optional) {
            OnnxType type = declared instanceof OnnxType.Optional(OnnxType of) ? of : declared;
            Ref value = values.value(initial);
            return new Form.OfOptional(initial.dtype(),
                    value == null ? form(initial.dtype(), type) : form(value, type));
        }
        return Lists.isTensor(initial)
                ? new Form.OfTensor(ArgType.dense(initial.dtype(), kept(initial.dims(), declared)))
                : new Form.OfArray(initial.dtype(), kept(initial, declared));
    }

    private static @Nullable Form form(DType dtype, @Nullable OnnxType declared) {
        return switch (declared) {
            case OnnxType.OfTensor(int _, List<OnnxType.Dim> dims) when dims != null ->
                new Form.OfTensor(ArgType.dense(dtype, dims.stream().mapToLong(OnnxType.Dim::size).toArray()));
            case OnnxType.Sequence(OnnxType element) -> new Form.OfArray(dtype, declared(element, ElementShapes.NONE));
            case null, default -> null;
        };
    }

    /** The dimensions of which the graph says that they stay; the others are unknown. */
    private static long[] kept(long[] dims, @Nullable OnnxType declared) {
        long[] said = declared instanceof OnnxType.OfTensor(int _, List<OnnxType.Dim> given)
                && given != null && given.size() == dims.length
                        ? given.stream().mapToLong(OnnxType.Dim::size).toArray()
                        : new long[0];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = said.length > 0 && said[i] == dims[i] ? dims[i] : -1;
        }
        return dims;
    }

    /** The same of a list's tensors. The declaration counts if there are none. */
    private ElementShapes kept(Ref list, @Nullable OnnxType declared) {
        OnnxType element = declared instanceof OnnxType.Sequence(OnnxType of) ? of : null;
        ElementShapes before = node.lists().shapes(list);
        return before.isRankKnown() ? ElementShapes.of(kept(before.dims(), element)) : declared(element, before);
    }

    /** Exporters declare tensors without dimensions if they do not know them. */
    private static ElementShapes declared(@Nullable OnnxType element, ElementShapes otherwise) {
        return element instanceof OnnxType.OfTensor(int _, List<OnnxType.Dim> dims) && dims != null && !dims.isEmpty()
                ? ElementShapes.ofRank(dims.size())
                : otherwise;
    }

    /** The values that steps pass on, as they are seen in the loop or after it. */
    List<Ref> carried(BlockBuilder block) {
        Iterator<Ref> variables = states.iterator();
        return carried.stream().map(each -> each.form.value(node, block, variables)).toList();
    }

    /** Passes on values of any kind. */
    void passCarried(List<Ref> next) {
        List<Ref> variables = new ArrayList<>();
        for (int i = 0; i < next.size(); i++) {
            List<Ref> parts = carried.get(i).form.variables(node, inner, next.get(i));
            Set<Integer> missing = missing(i, next.get(i));
            if (missing != null && !missing.isEmpty()) {
                Ref any = parts.getFirst();
                for (int k = 2; k < parts.size(); k += 2) {
                    any = inner.op("logical_or").in("X", any).in("Y", parts.get(k)).out("Out");
                }
                Branches.require(inner, any, node + ": a step passes on value " + (i + 1) + " with "
                        + missing.iterator().next() + " dimensions, but a loop passes on a value with at most "
                        + parts.size() / 2 + " numbers of dimensions; reshape it in the body");
            }
            variables.addAll(parts);
        }
        pass(variables);
        Lists values = node.lists();
        int at = 0;
        for (int i = 0; i < next.size(); i++) {
            for (Form part : carried.get(i).form.parts()) {
                if (carried.get(i).form instanceof Form.OfChoice || part instanceof Form.OfTensor) {
                    redeclare(states.get(at));
                }
                if (part instanceof Form.OfArray) {
                    ElementShapes shapes = shapes(values.value(carried.get(i).initial))
                            .and(shapes(values.value(next.get(i))));
                    states.set(at, values.redeclare(outer, states.get(at), shapes));
                }
                at++;
            }
        }
    }

    private ElementShapes shapes(@Nullable Ref list) {
        return list == null ? ElementShapes.NONE : node.lists().shapes(list);
    }

    /** A truth value of one element, which may be one of several tensors. */
    static Ref truth(Node node, Ref value) {
        Lists.Choice choice = node.lists().choice(value);
        return choice == null
                ? node.block().reshape(value, 1)
                : Branches.of(node, choice.condition(), block -> List.of(truth(node.in(block), choice.yes())),
                        block -> List.of(truth(node.in(block), choice.no()))).getFirst();
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
            boolean fits = each.type().kind() == state.type().kind() && each.dtype() == state.dtype()
                    && (!Lists.isTensor(each) || each.rank() == state.rank());
            if (!fits) {
                throw node.error("value %d that its steps pass on keeps its type, but is %s before and %s "
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
            if (node.lists().choice(each) != null && Form.of(node, each) instanceof Form.OfChoice form) {
                collect(form, each);
            } else {
                stacks.add(new Stacked(null, lists.size(), List.of()));
                collect(each);
            }
        }
    }

    private void collect(Ref each) {
        Ref list = outer.declare(ArgType.array(each.dtype(), each.dims()));
        Ref own = inner.op("assign").in("X", each).out("Out");
        inner.op("write_to_array").in("X", own).in("I", count).to("Out", list).append();
        lists.add(list);
    }

    /** All steps give one of the types; the tensors of the others are without meaning, but of one shape. */
    private void collect(Form.OfChoice form, Ref each) {
        int first = lists.size();
        List<Ref> parts = form.variables(node, inner, each);
        List<Ref> nothing = form.variables(node, inner, null);
        List<Ref> chosen = new ArrayList<>();
        Ref same = inner.binary("equal", count, inner.integers(DType.INT64, 0));
        for (int i = 0; i < parts.size(); i += 2) {
            Ref before = variable(outer.cast(outer.integers(DType.INT64, 0), DType.BOOL),
                    ArgType.dense(DType.BOOL, 1));
            Ref now = parts.get(i);
            same = inner.op("logical_or").in("X", same)
                    .in("Y", inner.op("logical_and").in("X", before).in("Y", now).out("Out")).out("Out");
            collect(inner.op("select_input").in("X", nothing.get(i + 1), parts.get(i + 1))
                    .in("Mask", inner.cast(now, DType.INT32)).out("Out"));
            chosen.add(before);
        }
        Branches.require(inner, same, node + ": a loop stacks tensors of one number of dimensions, but its steps give "
                + "different ones (" + node.lists().describe(each) + ")");
        for (int i = 0; i < chosen.size(); i++) {
            inner.op("assign").in("X", parts.get(2 * i)).to("Out", chosen.get(i)).append();
        }
        stacks.add(new Stacked(form, first, chosen));
    }

    /** How many steps there are with the current one. */
    Ref next() {
        Ref known = next;
        if (known == null) {
            known = inner.binary("elementwise_add", count, inner.integers(DType.INT64, 1));
            next = known;
        }
        return known;
    }

    /** Ends a step: counts, and says whether another follows. */
    void end(Ref follows) {
        inner.op("assign").in("X", next()).to("Out", count).append();
        inner.op("assign").in("X", follows).to("Out", again).append();
        List<Ref> written = new ArrayList<>(states);
        stacks.forEach(each -> written.addAll(each.chosen));
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

    /** What each step gave, stacked. */
    List<Ref> stacked() {
        return stacks.stream().map(this::stacked).toList();
    }

    private Ref stacked(Stacked stack) {
        if (stack.form == null) {
            return stacked(stack.first);
        }
        List<Ref> variables = new ArrayList<>();
        for (int i = 0; i < stack.chosen.size(); i++) {
            variables.add(stack.chosen.get(i));
            variables.add(stacked(stack.first + i));
        }
        Ref steps = outer.binary("less_than", outer.integers(DType.INT64, 0), count);
        // Without steps, the number of dimensions is not known, and ONNX Runtime gives a list without elements.
        Ref none = outer.op("fill_constant").attr("shape", new long[]{0}).attr("dtype", stack.form.dtype())
                .out("Out");
        return node.lists().choice(steps, stack.form.value(node, outer, variables.iterator()), none);
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

    /** Variables of all blocks have different names, so that those of inner blocks need not be forgotten. */
    private static void collect(Block block, Set<String> inside, Set<String> names) {
        block.vars().forEach(desc -> inside.add(desc.name()));
        for (OpDesc op : block.ops()) {
            op.inputNames().stream().filter(name -> !inside.contains(name)).forEach(names::add);
            op.attributes().forEach(each -> each.value().blocks()
                    .forEach(index -> collect(block.program().block(index), inside, names)));
        }
    }
}
