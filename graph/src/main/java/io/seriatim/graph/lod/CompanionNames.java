package io.seriatim.graph.lod;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The names of companions, and which of them a run is given. */
final class CompanionNames {
    private static final String NONE = LodSlot.of("none");

    private final Program program;
    private final boolean declares;
    private final Set<String> external;
    private final Set<String> used = new HashSet<>();
    private final Map<String, String> given = new LinkedHashMap<>();

    /** Names for a program, which is changed only if companions are declared. */
    CompanionNames(Program program, Collection<String> fed, boolean declares) {
        this.program = program;
        this.declares = declares;
        this.external = new HashSet<>(fed);
        for (OpDesc op : program.global().ops()) {
            if (isRead(op)) {
                external.addAll(op.outputNames());
            }
        }
        if (declares) {
            program.blocks().forEach(block -> block.vars().forEach(desc -> used.add(desc.name())));
        }
    }

    static boolean isRead(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        return schema != null && schema.effects().contains(Effect.READER);
    }

    /** Whether a variable has its value from outside of a run, unless the run writes it. */
    boolean external(String name) {
        VarDesc desc = program.global().var(name);
        return external.contains(name) || (desc != null && desc.isPersistable());
    }

    /** The companion of a variable from outside, which the run is given. */
    String given(String name) {
        String companion = LodSlot.of(name);
        if (given.putIfAbsent(companion, name) == null) {
            declare(program.global(), companion);
        }
        return companion;
    }

    /** A companion without levels. */
    String none() {
        if (given.putIfAbsent(NONE, "") == null) {
            declare(program.global(), NONE);
        }
        return NONE;
    }

    /** Companions that a run is given, and the variables whose offsets they hold; an empty name for none. */
    Map<String, String> given() {
        return given;
    }

    /** The one companion of a variable that blocks of control flow write. */
    String home(String name, Block block) {
        String companion = LodSlot.of(name);
        Block owner = block.owner(name);
        Block home = owner == null ? program.global() : owner;
        if (home.var(companion) == null) {
            VarDesc desc = block.find(name);
            if (desc != null && desc.type() instanceof VarType.TensorArray) {
                home.put(VarDesc.of(companion,
                        new VarType.TensorArray(VarType.TensorType.of(DType.INT64, -1), null)));
                used.add(companion);
            } else {
                declare(home, companion);
            }
        }
        return companion;
    }

    /** A new companion of a variable, for one of the operations that write it. */
    String fresh(String name, Block block) {
        String companion = LodSlot.of(name);
        for (int i = 1; used.contains(companion) || given.containsKey(companion); i++) {
            companion = LodSlot.of(name) + "." + i;
        }
        declare(block, companion);
        return companion;
    }

    private void declare(Block block, String companion) {
        used.add(companion);
        if (declares) {
            block.put(VarDesc.of(companion, VarType.dense(DType.INT64, -1)));
        }
    }
}
