package io.seriatim.graph.lod;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A program in which level-of-detail offsets are ordinary values. Beside each variable whose offsets an operation
 * reads, or a caller fetches, there is a companion variable that holds them in the form of {@link Lod#toTensor}.
 * Operations that only pass offsets on need nothing: the companion of their result is that of their input.
 */
public final class LodProgram {
    private final Program program;
    private final Map<String, String> given;
    private final Map<String, String> results;
    private final boolean reads;

    private LodProgram(Program program, Map<String, String> given, Map<String, String> results, boolean reads) {
        this.program = program;
        this.given = given;
        this.results = results;
        this.reads = reads;
    }

    /**
     * Adds companions to a program.
     *
     * @param program
     *            is not changed
     * @param fed
     *            variables that a caller feeds
     * @param fetched
     *            variables that a caller fetches
     * @return the program itself with nothing added, if none of its operations reads or makes offsets
     */
    public static LodProgram of(Program program, Collection<String> fed, Collection<String> fetched) {
        if (!reads(program)) {
            return passingOn(program, fed, fetched);
        }
        Program own = program.copy();
        CompanionNames names = new CompanionNames(own, fed, true);
        Map<String, String> last = new Companions(own, CompanionNeeds.of(own, fetched), names).add();
        Map<String, String> results = new LinkedHashMap<>();
        for (String name : fetched) {
            String companion = last.getOrDefault(name, names.external(name) ? names.given(name) : "");
            if (!companion.isEmpty()) {
                results.put(name, companion);
            }
        }
        return new LodProgram(own, names.given(), results, true);
    }

    /**
     * Whether an operation of a program reads or makes offsets.
     *
     * @param program
     *            any
     * @return false of most programs
     */
    public static boolean reads(Program program) {
        for (Block block : program.blocks()) {
            for (OpDesc op : block.ops()) {
                Operation schema = Operations.system().find(op.type());
                if (schema != null && !(schema.lodInputs().isEmpty() && schema.lodOutputs().isEmpty())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A program whose operations only pass offsets on: those of a fetched variable are those of one that is fed. */
    private static LodProgram passingOn(Program program, Collection<String> fed, Collection<String> fetched) {
        Map<String, Set<String>> open = new HashMap<>();
        fetched.forEach(name -> open.computeIfAbsent(name, _ -> new LinkedHashSet<>()).add(name));
        List<OpDesc> ops = program.global().ops();
        for (int i = ops.size() - 1; i >= 0 && !open.isEmpty(); i--) {
            OpDesc op = ops.get(i);
            if (Operations.system().isBoundary(op.type()) || CompanionNames.isRead(op)) {
                continue;
            }
            Map<String, Set<String>> before = new HashMap<>();
            Map<String, List<String>> sources =
                    op.runsBlocks() || op.outputNames().stream().noneMatch(open::containsKey)
                            ? Map.of()
                            : CompanionNeeds.sources(op);
            for (String name : op.outputNames()) {
                Set<String> of = open.remove(name);
                List<String> from = sources.getOrDefault(name, List.of());
                if (of != null && from.size() == 1) {
                    before.computeIfAbsent(from.getFirst(), _ -> new LinkedHashSet<>()).addAll(of);
                }
            }
            before.forEach((name, of) -> open.computeIfAbsent(name, _ -> new LinkedHashSet<>()).addAll(of));
        }
        CompanionNames names = new CompanionNames(program, fed, false);
        Map<String, String> results = new LinkedHashMap<>();
        open.forEach((name, of) -> {
            if (names.external(name)) {
                of.forEach(each -> results.put(each, names.given(name)));
            }
        });
        return new LodProgram(program, names.given(), results, false);
    }

    /**
     * The program to run.
     *
     * @return with companions
     */
    public Program program() {
        return program;
    }

    /**
     * Variables that a run must be given beside those that the caller feeds.
     *
     * @return companions; none if no operation reads offsets
     */
    public Set<String> feeds() {
        return reads ? given.keySet() : Set.of();
    }

    /**
     * Companions of fetched variables that the program computes, and that must be fetched with them.
     *
     * @return names of variables
     */
    public Set<String> fetches() {
        Set<String> computed = new LinkedHashSet<>(results.values());
        computed.removeAll(given.keySet());
        return computed;
    }

    /**
     * The values of {@link #feeds}.
     *
     * @param tensors
     *            the values of variables that are fed or outlive runs; null for none
     * @return the offsets of these variables
     */
    public Map<String, Tensor> values(Function<String, @Nullable Tensor> tensors) {
        if (!reads || given.isEmpty()) {
            return Map.of();
        }
        Map<String, Tensor> values = new LinkedHashMap<>();
        given.forEach((companion, name) -> values.put(companion, offsets(name, tensors).toTensor()));
        return values;
    }

    private static Lod offsets(String name, Function<String, @Nullable Tensor> tensors) {
        Tensor tensor = name.isEmpty() ? null : tensors.apply(name);
        return tensor == null ? Lod.NONE : tensor.lod();
    }

    /**
     * A fetched value with its offsets.
     *
     * @param name
     *            the fetched variable
     * @param value
     *            its value
     * @param fed
     *            the values of variables that are fed or outlive runs; null for none
     * @param computed
     *            the values of {@link #fetches}; null for those that nothing has computed
     * @return the value itself if it has no offsets, or they are those of another number of rows
     */
    public Tensor result(String name, Tensor value, Function<String, @Nullable Tensor> fed,
            Function<String, @Nullable Tensor> computed) {
        String companion = results.get(name);
        if (companion == null) {
            return value;
        }
        String source = given.get(companion);
        Tensor offsets = source == null ? computed.apply(companion) : null;
        Lod lod = source != null ? offsets(source, fed) : offsets == null ? Lod.NONE : Lod.of(offsets);
        boolean fits = !lod.isEmpty() && value.shape().rank() > 0 && value.shape().dim(0) == lod.rows();
        return fits ? value.withLod(lod) : value;
    }
}
