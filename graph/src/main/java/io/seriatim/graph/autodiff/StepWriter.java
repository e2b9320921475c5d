package io.seriatim.graph.autodiff;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes the operations of a gradient's block into a block of its own, in which each operation has fresh variables as
 * results, so that nothing is overwritten. Lists are changed in place as before.
 */
final class StepWriter {
    private static final Set<String> WRITES = Set.of("write_to_array", "array_add", "array_put");
    private static final Set<String> READS = Set.of("read_from_array", "array_take", "array_peek");

    private final RecordedNames names;
    private final Block from;
    private final Block into;
    private final @Nullable StepWriter outer;
    /** Values that the forward block has recorded; null for other variables. */
    private final Function<String, @Nullable String> recorded;
    private final Map<String, String> current = new HashMap<>();
    private final Set<String> written = new HashSet<>();
    private final List<OpDesc> before = new ArrayList<>();
    private final List<OpDesc> ops = new ArrayList<>();

    StepWriter(RecordedNames names, Block from, Block into, @Nullable StepWriter outer,
            Function<String, @Nullable String> recorded) {
        this.names = names;
        this.from = from;
        this.into = into;
        this.outer = outer;
        this.recorded = recorded;
    }

    Block block() {
        return into;
    }

    RecordedNames names() {
        return names;
    }

    /** The variable that has the value of one of the gradient's block. */
    String read(String name) {
        if (outer == null || name.equals(GradientRule.EMPTY)) {
            return name;
        }
        String own = current.get(name);
        if (own == null) {
            own = recorded.apply(name);
            if (own != null) {
                current.put(name, own);
            }
        }
        return own == null ? outer.read(name) : own;
    }

    /** The variable that has the value, if the block itself has one; null otherwise. */
    @Nullable
    String here(String name) {
        return current.get(name);
    }

    /** From now on a variable has the value of another. */
    void set(String name, String value) {
        current.put(name, value);
    }

    /** Of the first block, what operations before have written. */
    void written(Collection<String> outputs) {
        written.addAll(outputs);
    }

    /** Whether a gradient has a value. */
    boolean isKnown(String name) {
        return current.containsKey(name) || (outer == null ? written.contains(name) : outer.isKnown(name));
    }

    /** The variable to which the next value of one of the gradient's block is written. */
    String write(String name) {
        if (outer == null || name.equals(GradientRule.EMPTY)) {
            return name;
        }
        VarDesc desc = desc(name);
        String fresh = declare(name, desc);
        current.put(name, fresh);
        return fresh;
    }

    private String declare(String name, VarDesc desc) {
        return names.declare(into, name, desc.type(), stops(name, desc));
    }

    /** What is known of a variable of the gradient's block, or of one of which it is the gradient. */
    VarDesc desc(String name) {
        VarDesc own = from.find(name);
        return own == null ? from.get(Backward.forward(name)) : own;
    }

    boolean isList(String name) {
        VarDesc own = from.find(name);
        VarDesc desc = own == null ? from.find(Backward.forward(name)) : own;
        return desc != null && desc.type() instanceof VarType.TensorArray;
    }

    /** A variable of this block, for a state of a loop in it: the gradient of some name, or its sum. */
    String state(String name) {
        VarDesc desc = desc(name);
        VarType.TensorType type = desc.type().tensorType();
        VarType dense =
                desc.type() instanceof VarType.Rows && type != null ? new VarType.Dense(type, null) : desc.type();
        return names.declare(into, name, dense, stops(name, desc));
    }

    /** A gradient of a variable that itself wants none may still have one. */
    private static boolean stops(String name, VarDesc desc) {
        VarType.TensorType type = desc.type().tensorType();
        return desc.name().equals(name) ? desc.stopsGradient() : type == null || !type.dtype().isDifferentiable();
    }

    void add(OpDesc op) {
        ops.add(Appender.complete(op, Roles.BACKWARD));
    }

    /** Adds an operation that runs before all others. */
    void addBefore(OpDesc op) {
        before.add(Appender.complete(op, Roles.BACKWARD));
    }

    /** Adds zeros for a gradient of a variable. */
    void zeros(String forward, String to) {
        VarDesc desc = into.get(to);
        VarType.TensorType type = desc.type().tensorType();
        add(desc.type() instanceof VarType.TensorArray && type != null
                ? RecordedNames.emptyList(to, type)
                : RecordedNames.zeros(read(forward), to));
    }

    /** Adds an operation of the gradient's block. */
    void copy(OpDesc op) {
        if (WRITES.contains(op.type()) && outer != null) {
            String list = op.output("Out").getFirst();
            boolean adds = op.type().equals("write_to_array") && list.contains(GradientRule.SUFFIX);
            String to = list(list);
            add(new OpDesc(adds ? "array_add" : op.type(), read(op.inputs()), Map.of("Out", List.of(to)),
                    op.attributes(), null).builtWith(op));
        } else if (READS.contains(op.type()) && outer != null && !op.input("X_W").isEmpty()) {
            list(op.input("X").getFirst());
            Map<String, List<String>> in = read(op.inputs());
            add(new OpDesc(op.type().equals("array_peek") ? op.type() : "array_take", in, written(op.outputs()),
                    op.attributes(), null).builtWith(op));
        } else if (outer == null || !isZeroOfBranch(op)) {
            Map<String, List<String>> in = read(op.inputs());
            add(op.with(in, written(op.outputs())));
        }
    }

    /**
     * Whether an operation gives a result of a branch a gradient of zero. The result has no value where the branch was
     * not taken; the branch's gradient itself takes what is not there for zero.
     */
    private boolean isZeroOfBranch(OpDesc op) {
        if (!op.type().equals("fill_any_like") || from.forward() == Block.NONE
                || !op.output("Out").equals(op.input("X").stream().map(GradientRule::gradient).toList())) {
            return false;
        }
        List<OpDesc> writers = from.program().block(from.forward()).ops().stream()
                .filter(each -> each.outputNames().containsAll(op.input("X"))).toList();
        return !writers.isEmpty() && writers.stream().allMatch(each -> each.type().equals("conditional_block"));
    }

    /** A list that operations change in place: one of this block begins empty. */
    private String list(String name) {
        String known = current.get(name);
        if (known != null) {
            return known;
        }
        VarDesc desc = desc(name);
        VarType.TensorType type = desc.type().tensorType();
        if (type == null) {
            throw new IllegalArgumentException("Variable '" + name + "' is changed as a list, but is " + desc);
        }
        String list = names.declare(into, name, new VarType.TensorArray(type, null), stops(name, desc));
        addBefore(RecordedNames.emptyList(list, type));
        current.put(name, list);
        return list;
    }

    private Map<String, List<String>> read(Map<String, List<String>> slots) {
        Map<String, List<String>> in = new HashMap<>();
        slots.forEach((slot, all) -> in.put(slot, all.stream().map(this::read).toList()));
        return new TreeMap<>(in);
    }

    private Map<String, List<String>> written(Map<String, List<String>> slots) {
        Map<String, List<String>> out = new TreeMap<>();
        slots.forEach((slot, all) -> out.put(slot, all.stream().map(this::write).toList()));
        return out;
    }

    List<OpDesc> ops() {
        List<OpDesc> all = new ArrayList<>(before);
        all.addAll(ops);
        return all;
    }

    /** Gives the block its operations. */
    void end() {
        into.setOps(ops());
    }

    /** The variables of outer blocks that the block reads, and those that it writes. */
    Set<String> outside(boolean written) {
        Set<String> outside = new LinkedHashSet<>();
        for (OpDesc op : into.ops()) {
            List<String> all = written ? op.outputNames() : op.inputNames();
            all.stream().filter(name -> into.var(name) == null && !name.equals(GradientRule.EMPTY))
                    .forEach(outside::add);
        }
        return outside;
    }
}
