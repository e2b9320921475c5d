package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites operations that PaddlePaddle has, but not as they are, into those that it computes the same with. What has
 * no such form stays as it is; the check of the {@link TargetSchema} names it.
 */
public final class PaddleForms {
    private static final Map<String, Rule> RULES = rules();
    /** Those for PaddlePaddle 3 only, whose kernels lost what those of PaddlePaddle 2 had. */
    private static final Map<String, Rule> NEWER = newer();

    /** Replaces operations of some types. */
    @FunctionalInterface
    interface Rule {
        /** Appends the operations that take the place of one; false, and none, if there are no others. */
        boolean rewrite(OpDesc op, Steps steps, Reads reads);
    }

    /** Which variables are read. */
    static final class Reads {
        private final Map<String, Integer> reads = new HashMap<>();
        private final Set<String> wanted;
        private final Map<String, Tensor> constants;

        private Reads(Collection<Block> blocks, Collection<String> wanted, Map<String, Tensor> parameters) {
            this.wanted = new HashSet<>(wanted);
            this.constants = new HashMap<>(parameters);
            Map<String, Integer> writes = new HashMap<>();
            blocks.forEach(block -> block.ops()
                    .forEach(op -> op.outputNames().forEach(name -> writes.merge(name, 1, Integer::sum))));
            constants.keySet().removeAll(writes.keySet());
            blocks.forEach(block -> block.ops().forEach(op -> {
                Tensor value = ConstantForm.value(op);
                if (value != null && writes.getOrDefault(op.output("Out").getFirst(), 0) == 1) {
                    constants.put(op.output("Out").getFirst(), value);
                }
            }));
            blocks.forEach(block -> block.ops()
                    .forEach(op -> op.inputNames().forEach(name -> reads.merge(name, 1, Integer::sum))));
        }

        /** The value of a parameter that nothing writes, or of a constant; null if there is none. */
        @Nullable
        Tensor constant(String variable) {
            return constants.get(variable);
        }

        boolean isRead(String variable) {
            return wanted.contains(variable) || reads.containsKey(variable);
        }
    }

    private PaddleForms() {
    }

    private static Map<String, Rule> rules() {
        Map<String, Rule> rules = new HashMap<>();
        PaddingForm.register(rules);
        EinsumForm.register(rules);
        ConstantForm.register(rules);
        RoundingForm.register(rules);
        VersionForm.register(rules);
        OnnxForm.register(rules);
        RecurrentForm.register(rules);
        rules.put("dropout", PaddleForms::dropout);
        rules.put("lu_unpack", PaddleForms::unpacked);
        rules.put("qr", PaddleForms::factors);
        rules.put("unique", PaddleForms::unique);
        rules.put("unique_consecutive", PaddleForms::unique);
        return Map.copyOf(rules);
    }

    private static Map<String, Rule> newer() {
        Map<String, Rule> rules = new HashMap<>();
        QuantizationForm.register(rules);
        RoundingForm.registerNewer(rules);
        VersionForm.registerNewer(rules);
        ProductForm.register(rules);
        return Map.copyOf(rules);
    }

    /** What flags do not ask for is a zero here; PaddlePaddle gives it no value. */
    private static boolean unpacked(OpDesc op, Steps steps, Reads reads) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        List<String> absent = new ArrayList<>();
        if (!attrs.getBool("unpack_pivots")) {
            absent.add("Pmat");
        }
        if (!attrs.getBool("unpack_ludata")) {
            absent.addAll(List.of("L", "U"));
        }
        return absent(op, steps, reads, absent, new long[0]);
    }

    /** The factor that is not asked for is empty here; PaddlePaddle's programs for inference leave it a scalar. */
    private static boolean factors(OpDesc op, Steps steps, Reads reads) {
        boolean only = op.attribute("mode") instanceof Attribute.Text(String mode) && mode.equals("r");
        return absent(op, steps, reads, only ? List.of("Q") : List.of(), new long[]{0});
    }

    /** Gives results that an operation does not compute the value 0 if they are read. */
    private static boolean absent(OpDesc op, Steps steps, Reads reads, List<String> slots, long[] dims) {
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        List<String> read = new ArrayList<>();
        for (String slot : slots) {
            if (op.output(slot).stream().anyMatch(reads::isRead)) {
                read.add(op.output(slot).getFirst());
                outputs.put(slot, List.of(steps.declare(VarType.dense(DType.FLOAT32, -1))));
            }
        }
        if (read.isEmpty()) {
            return false;
        }
        steps.keep(op.with(op.inputs(), outputs));
        int dtype = steps.tensor(op.input("X").getFirst()).dataType();
        read.forEach(name -> steps.op("fill_constant").attr("shape", dims).attr("value", 0f).attr("dtype", dtype)
                .into("Out", name));
        return true;
    }

    /** PaddlePaddle computes the results that flags ask for, whichever variables there are. */
    private static boolean unique(OpDesc op, Steps steps, Reads reads) {
        OpDesc changed = op;
        for (Map.Entry<String, String> each : Map.of("Indices", "return_index", "Index", "return_inverse", "Counts",
                "return_counts").entrySet()) {
            List<String> result = op.output(each.getKey());
            boolean asked = op.attribute(each.getValue()) instanceof Attribute.Bool(boolean value) && value;
            boolean wanted = result.isEmpty() ? false : asked || reads.isRead(result.getFirst());
            if (asked != wanted) {
                changed = changed.with(each.getValue(), wanted);
            }
        }
        steps.keep(changed);
        return true;
    }

    /** PaddlePaddle's kernel wants two dimensions to make values smaller in inference. */
    private static boolean dropout(OpDesc op, Steps steps, Reads reads) {
        Attrs attrs = new Attrs(op, Operations.system().find(op.type()));
        String x = op.input("X").getFirst();
        if (steps.tensor(x).dims().size() > 1 || !attrs.getBool("is_test")
                || !attrs.getText("dropout_implementation").equals("downgrade_in_infer")
                || op.output("Mask").stream().anyMatch(reads::isRead)) {
            return false;
        }
        steps.linear(x, 1 - attrs.getFloat("dropout_prob"), 0).into("Out", op.output("Out").getFirst());
        return true;
    }

    /**
     * Rewrites a program.
     *
     * @param program
     *            any program for inference; it is not changed
     * @param fetches
     *            the variables that are wanted
     * @param schema
     *            what the version of PaddlePaddle has
     * @return a program with the same results
     */
    public static Program of(Program program, List<String> fetches, TargetSchema schema) {
        return of(program, fetches, Map.of(), schema);
    }

    /**
     * Parameters whose values are known when a model is written: a parameter that is fed has the value that is fed.
     *
     * @param parameters
     *            those of a model
     * @param feeds
     *            the names of what is fed
     * @return the others
     */
    public static Map<String, Tensor> constants(Map<String, Tensor> parameters, Collection<String> feeds) {
        Map<String, Tensor> constants = new HashMap<>(parameters);
        constants.keySet().removeAll(feeds);
        return constants;
    }

    /**
     * Rewrites a program whose parameters may be axes and sizes.
     *
     * @param program
     *            any program for inference; it is not changed
     * @param fetches
     *            the variables that are wanted
     * @param parameters
     *            the values of variables that are not fed
     * @param schema
     *            what the version of PaddlePaddle has
     * @return a program with the same results
     * @throws IllegalArgumentException
     *             if PaddlePaddle computes something else, or by chance, with operations that no others can replace;
     *             the message names each with its first output
     */
    public static Program of(Program program, List<String> fetches, Map<String, Tensor> parameters,
            TargetSchema schema) {
        Program rewritten = program.copy();
        Set<String> undefined = new LinkedHashSet<>();
        Steps.Names names = new Steps.Names(rewritten.blocks());
        Reads reads = new Reads(rewritten.blocks(), fetches, parameters);
        // A rule may add blocks.
        for (int i = 0; i < rewritten.blocks().size(); i++) {
            Block block = rewritten.block(i);
            Steps steps = new Steps(block, names);
            List<OpDesc> before = new ArrayList<>(block.ops());
            for (OpDesc each : before) {
                OpDesc op = AttributeForm.of(each, steps);
                String problem = UndefinedResults.problem(op, steps, reads);
                if (problem != null) {
                    undefined.add(Printable.of("'" + op.type() + "' (of '" + op.outputNames().getFirst() + "') "
                            + problem));
                }
                @Nullable
                Rule rule = schema == TargetSchema.paddle3() && NEWER.containsKey(op.type())
                        ? NEWER.get(op.type())
                        : RULES.get(op.type());
                if ((rule == null || !rule.rewrite(op, steps, reads))
                        && !InPlaceForm.rewrite(op, schema, steps, reads)) {
                    steps.keep(op);
                }
            }
            List<OpDesc> after = new ArrayList<>();
            steps.ops().forEach(op -> after.add(steps.whole(op, schema)));
            if (!after.equals(before)) {
                block.setOps(after);
            }
        }
        if (!undefined.isEmpty()) {
            throw new IllegalArgumentException("The model cannot be written for PaddlePaddle, whose results would be "
                    + "others: " + String.join("; ", undefined));
        }
        return rewritten;
    }
}
