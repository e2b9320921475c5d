package io.seriatim.onnx.operators;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.ElementShapes;
import io.seriatim.onnx.node.Lists;
import io.seriatim.onnx.node.Node;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Two blocks of which a run takes one. */
public final class Branches {
    private final Node node;
    private final BlockBuilder inner;
    /** Null if the block always fails. */
    private final @Nullable List<Ref> results;

    private Branches(Node node, Function<BlockBuilder, @Nullable List<Ref>> translation) {
        this.node = node;
        this.inner = node.block().child();
        this.results = translation.apply(inner);
    }

    /**
     * Appends two blocks of which a run takes one.
     *
     * @param node
     *            that for which they stand
     * @param truth
     *            one truth value
     * @param yes
     *            appends the block that is taken if it is true, and gives its results; null if that block always fails
     * @param no
     *            the same of the other block; not null if the first one is
     * @return the results of the block that is taken
     */
    public static List<Ref> of(Node node, Ref truth, Function<BlockBuilder, @Nullable List<Ref>> yes,
            Function<BlockBuilder, @Nullable List<Ref>> no) {
        BlockBuilder block = node.block();
        Ref condition = block.reshape(truth, 1);
        Branches then = new Branches(node, yes);
        Branches otherwise = new Branches(node, no);
        List<Ref> first = then.results == null ? otherwise.results : then.results;
        List<Ref> second = otherwise.results == null ? then.results : otherwise.results;
        if (first == null || second == null) {
            throw node.error("both branches always fail");
        }
        if (first.size() != second.size()) {
            throw node.error("the branches have as many outputs as each other, but %d and %d", first.size(),
                    second.size());
        }
        List<Form> forms = new ArrayList<>();
        for (int i = 0; i < first.size(); i++) {
            forms.add(Form.common(node, first.get(i), second.get(i)));
        }
        List<Ref> taken = then.append(condition, forms);
        List<Ref> other = otherwise.append(block.unary("logical_not", condition), forms);
        Ref mask = block.cast(condition, DType.INT32);
        List<Form> parts = forms.stream().flatMap(form -> form.parts().stream()).toList();
        List<Ref> chosen = new ArrayList<>();
        for (int i = 0; i < taken.size(); i++) {
            Ref either = block.op("select_input").in("X", other.get(i), taken.get(i)).in("Mask", mask).out("Out");
            chosen.add(parts.get(i) instanceof Form.OfArray(DType _, ElementShapes shapes)
                    ? node.lists().redeclare(block, either, shapes)
                    : either);
        }
        Iterator<Ref> variables = chosen.iterator();
        List<Ref> values = new ArrayList<>();
        for (int i = 0; i < forms.size(); i++) {
            values.add(forms.get(i) instanceof Form.OfChoice choice && Lists.isTensor(first.get(i))
                    && Lists.isTensor(second.get(i))
                            ? choice.value(node, condition, first.get(i), second.get(i), variables)
                            : forms.get(i).value(node, block, variables));
        }
        return values;
    }

    /** Appends the block; the variables in which it gives its results. */
    private List<Ref> append(Ref condition, List<Form> forms) {
        BlockBuilder outer = node.block();
        List<Ref> out = new ArrayList<>();
        for (int i = 0; i < forms.size(); i++) {
            List<Form> parts = forms.get(i).parts();
            List<Ref> variables = forms.get(i).variables(node, inner, results == null ? null : results.get(i));
            for (int k = 0; k < parts.size(); k++) {
                out.add(Form.copied(node, inner, variables.get(k), outer, parts.get(k)));
            }
        }
        append(outer, condition, inner, out);
        return out;
    }

    private static void append(BlockBuilder outer, Ref condition, BlockBuilder inner, List<Ref> out) {
        outer.op("conditional_block").in("Cond", condition).in("Input", LoopSteps.captured(inner.block()))
                .to("Out", out.stream().map(Ref::name).toList())
                .to("Scope", List.of(outer.declare(new VarType.Other(VarType.STEP_SCOPES))))
                .block("sub_block", inner.block()).attr("is_scalar_condition", true).append();
    }

    /**
     * Appends an assertion, of which a run that fails names the message.
     *
     * @param block
     *            where it is appended
     * @param truth
     *            one truth value
     * @param message
     *            what is wrong if it is false
     */
    public static void require(BlockBuilder block, Ref truth, String message) {
        Ref condition = block.declare("no failure: " + message, ArgType.dense(DType.BOOL, 1));
        block.op("assign").in("X", truth).to("Out", condition).append();
        block.op("assert").in("Cond", condition).append();
    }

    /**
     * A value that is one of several tensors, as one variable. What it declares is right for one of them only: programs
     * have no type without a number of dimensions. It may be fetched, but operations that read it would be translated
     * wrongly.
     */
    public static Ref fetched(Lists lists, BlockBuilder block, Ref value) {
        Lists.Choice choice = lists.choice(value);
        if (choice == null) {
            return value;
        }
        Ref first = lists.leaves(value).getFirst();
        long[] unknown = first.dims();
        Arrays.fill(unknown, -1);
        Ref out = block.declare(ArgType.dense(first.dtype(), unknown));
        write(lists, block, choice, out);
        return out;
    }

    private static void write(Lists lists, BlockBuilder block, Lists.Choice choice, Ref out) {
        arm(block, choice.condition(), inner -> write(lists, inner, choice.yes(), out), out);
        arm(block, block.unary("logical_not", choice.condition()), inner -> write(lists, inner, choice.no(), out),
                out);
    }

    private static void write(Lists lists, BlockBuilder block, Ref value, Ref out) {
        Lists.Choice choice = lists.choice(value);
        if (choice == null) {
            block.op("assign").in("X", value).to("Out", out).append();
        } else {
            write(lists, block, choice, out);
        }
    }

    private static void arm(BlockBuilder block, Ref condition, Consumer<BlockBuilder> body, Ref out) {
        BlockBuilder inner = block.child();
        body.accept(inner);
        append(block, condition, inner, Collections.singletonList(out));
    }
}
