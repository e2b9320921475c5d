package io.seriatim.graph.program;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Which operations make variables share memory: {@code coalesce_tensor}, {@code share_data} and {@code share_buffer}.
 */
public final class Aliases {
    private Aliases() {
    }

    /**
     * The variables that share memory with another one from an operation on.
     *
     * @param op
     *            any operation
     * @return often none
     */
    public static List<String> made(OpDesc op) {
        return OperationTypes.system().aliases(op.type()).stream().flatMap(slot -> op.output(slot).stream()).toList();
    }

    /**
     * Whether a program has operations that make variables share memory.
     *
     * @param program
     *            with all its blocks
     * @return whether there is one
     */
    public static boolean areMadeBy(Program program) {
        return program.blocks().stream().flatMap(block -> block.ops().stream()).anyMatch(op -> !made(op).isEmpty());
    }

    /**
     * The variables that a block makes share memory and overwrites before it reads them: no run sees the values of an
     * earlier one.
     *
     * @param block
     *            a program's first block
     * @return their names
     */
    public static Set<String> madeAnew(Block block) {
        Set<String> all = new HashSet<>();
        block.ops().forEach(op -> all.addAll(made(op)));
        Set<String> anew = new LinkedHashSet<>();
        Set<String> met = new HashSet<>();
        for (OpDesc op : all.isEmpty() ? List.<OpDesc>of() : block.ops()) {
            op.inputNames().stream().filter(all::contains).forEach(met::add);
            op.attributes().stream().flatMap(each -> each.value().blocks().stream())
                    .flatMap(index -> block.program().block(index).ops().stream())
                    .flatMap(inner -> Stream.concat(inner.inputNames().stream(), inner.outputNames().stream()))
                    .forEach(met::add);
            op.outputNames().stream().filter(name -> all.contains(name) && met.add(name)).forEach(anew::add);
        }
        return anew;
    }

    /**
     * Which variables may share memory, somewhere in a program.
     *
     * @param program
     *            with all its blocks
     * @return for each such variable all that may share its memory, itself included
     */
    public static Map<String, Set<String>> sharing(Program program) {
        Map<String, Set<String>> sharing = new HashMap<>();
        for (Block block : program.blocks()) {
            for (OpDesc op : block.ops()) {
                if (made(op).isEmpty()) {
                    continue;
                }
                Set<String> all = new HashSet<>();
                Stream.concat(op.inputNames().stream(), op.outputNames().stream())
                        .forEach(name -> all.addAll(sharing.getOrDefault(name, Set.of(name))));
                all.forEach(name -> sharing.put(name, all));
            }
        }
        return sharing;
    }

    /**
     * Refuses inner blocks that make variables of outer blocks share memory: whether they run is not known in time.
     *
     * @param program
     *            what is to be run
     * @throws IllegalArgumentException
     *             if there is such a block; the message names the operation and the variable
     */
    public static void check(Program program) {
        for (Block block : program.blocks().subList(1, program.blocks().size())) {
            for (int i = 0; i < block.ops().size(); i++) {
                OpDesc op = block.ops().get(i);
                for (String name : made(op)) {
                    if (block.var(name) == null) {
                        throw new IllegalArgumentException("Block " + block.index() + ", operation " + i + " ("
                                + op.type()
                                + ") makes '" + name
                                + "' share memory, which is declared outside of the block, and the block may be run or"
                                + " not: make variables share memory in the block that declares them");
                    }
                }
            }
        }
    }
}
