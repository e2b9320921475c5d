package io.seriatim.graph.lod;

import io.seriatim.graph.autodiff.Backward;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Adds companions to the blocks of a program.
 *
 * <p>
 * In one block, the companion of a result that takes over offsets is the companion of the input: nothing is copied. A
 * variable that blocks of control flow write has one companion, its home, which each write overwrites, since only the
 * run decides which write is the last. What takes over the offsets of such a variable gets a copy.
 */
final class Companions {
    private final Program program;
    private final CompanionNeeds needs;
    private final CompanionNames names;
    private final Map<Integer, Scope> scopes = new HashMap<>();
    private final Set<String> homes = new HashSet<>();

    /** The companions of the variables at the current point of a block; an empty name for none. */
    private static final class Scope {
        final Block block;
        final @Nullable Scope around;
        final @Nullable Scope forward;
        final Map<String, String> companions = new HashMap<>();
        final List<OpDesc> ops = new ArrayList<>();

        Scope(Block block, @Nullable Scope around, @Nullable Scope forward) {
            this.block = block;
            this.around = around;
            this.forward = forward;
        }

        @Nullable
        String find(String name) {
            String found = companions.get(name);
            if (found == null && forward != null) {
                found = forward.companions.get(name);
            }
            return found != null || around == null ? found : around.find(name);
        }
    }

    Companions(Program program, CompanionNeeds needs, CompanionNames names) {
        this.program = program;
        this.needs = needs;
        this.names = names;
    }

    /** Adds the companions; returns those of the global block's variables at its end. */
    Map<String, String> add() {
        Scope global = new Scope(program.global(), null, null);
        add(global);
        return global.companions;
    }

    private void add(Scope scope) {
        scopes.put(scope.block.index(), scope);
        for (OpDesc op : scope.block.ops()) {
            if (Operations.system().isBoundary(op.type())
                    || (CompanionNames.isRead(op) && scope.block.index() == 0)) {
                scope.ops.add(op);
                continue;
            }
            List<Integer> blocks = op.attributes().stream().flatMap(each -> each.value().blocks().stream()).toList();
            if (blocks.isEmpty()) {
                add(op, scope);
            } else {
                runBlocks(op, blocks, scope);
            }
        }
        scope.block.setOps(scope.ops);
    }

    private void runBlocks(OpDesc op, List<Integer> blocks, Scope scope) {
        Set<String> extra = new HashSet<>();
        for (int index : blocks) {
            Block inner = program.block(index);
            for (String name : needs.carried(inner)) {
                bind(name, companion(name, scope), scope);
                extra.add(LodSlot.of(name));
            }
            Scope own = new Scope(inner, scope, inner.forward() == Block.NONE ? null : scopes.get(inner.forward()));
            if (op.type().startsWith("recurrent")) {
                // Inside, the name of a sequence is that of one of its parts.
                op.input("inputs").forEach(name -> own.companions.put(name, ""));
            }
            add(own);
        }
        if (op.type().equals("while")) {
            // The gradient of a loop needs its variables as they were before each step.
            List<String> in = new ArrayList<>(op.input("X"));
            extra.stream().sorted().forEach(in::add);
            Map<String, List<String>> inputs = new HashMap<>(op.inputs());
            inputs.put("X", in);
            scope.ops.add(op.with(inputs, op.outputs()));
        } else {
            scope.ops.add(op);
        }
    }

    private void add(OpDesc op, Scope scope) {
        switch (op.type()) {
            case "write_to_array" -> write(op, scope);
            case "read_from_array" -> read(op, scope);
            case "select_input" -> select(op, scope);
            default -> plain(op, scope);
        }
    }

    private void plain(OpDesc op, Scope scope) {
        Operation schema = Operations.system().find(op.type());
        Map<String, List<String>> in = new HashMap<>(op.inputs());
        Map<String, List<String>> out = new HashMap<>(op.outputs());
        Map<String, List<String>> sources = CompanionNeeds.sources(op);
        if (schema != null) {
            for (String slot : schema.lodInputs()) {
                List<String> companions = op.input(slot).stream().map(name -> companion(name, scope)).toList();
                if (companions.stream().anyMatch(each -> !each.isEmpty())) {
                    in.put(LodSlot.of(slot),
                            companions.stream().map(each -> each.isEmpty() ? names.none() : each).toList());
                }
            }
        }
        Map<String, String> after = new HashMap<>();
        for (Map.Entry<String, List<String>> slot : op.outputs().entrySet()) {
            boolean makes = schema != null && schema.lodOutputs().contains(slot.getKey());
            List<String> made = new ArrayList<>();
            for (String name : slot.getValue()) {
                if (makes) {
                    made.add(needs.isNeeded(name) ? target(name, scope) : GradientRule.EMPTY);
                } else if (needs.isNeeded(name)) {
                    List<String> from = sources.getOrDefault(name, List.of());
                    after.put(name, from.isEmpty() ? "" : companion(from.getFirst(), scope));
                }
            }
            if (made.stream().anyMatch(each -> !each.equals(GradientRule.EMPTY))) {
                out.put(LodSlot.of(slot.getKey()), made);
            }
        }
        scope.ops.add(in.equals(op.inputs()) && out.equals(op.outputs()) ? op : op.with(in, out));
        after.forEach((name, companion) -> bind(name, companion, scope));
    }

    private void write(OpDesc op, Scope scope) {
        scope.ops.add(op);
        String list = op.output("Out").getFirst();
        if (needs.isNeeded(list)) {
            scope.ops.add(OpDesc.of("write_to_array").in("X", named(companion(op.input("X").getFirst(), scope)))
                    .in("I", op.input("I")).out("Out", target(list, scope)).build());
        }
    }

    private void read(OpDesc op, Scope scope) {
        String name = op.output("Out").getFirst();
        String list = companion(op.input("X").getFirst(), scope);
        scope.ops.add(op);
        if (needs.isNeeded(name) && op.input("X_W").isEmpty() && !list.isEmpty()) {
            scope.ops.add(OpDesc.of("read_from_array").in("X", list).in("I", op.input("I"))
                    .out("Out", target(name, scope)).build());
        } else if (needs.isNeeded(name)) {
            bind(name, "", scope);
        }
    }

    private void select(OpDesc op, Scope scope) {
        String name = op.output("Out").getFirst();
        scope.ops.add(op);
        if (needs.isNeeded(name)) {
            scope.ops.add(OpDesc.of("select_input")
                    .in("X", op.input("X").stream().map(each -> named(companion(each, scope))).toList())
                    .in("Mask", op.input("Mask")).out("Out", target(name, scope)).build());
        }
    }

    private String named(String companion) {
        return companion.isEmpty() ? names.none() : companion;
    }

    /** The companion of a variable that is read; that of the forward variable for a gradient without one. */
    private String companion(String name, Scope scope) {
        String found = scope.find(name);
        if (found == null && names.external(name)) {
            return names.given(name);
        }
        boolean none = found == null || found.isEmpty();
        return none && name.contains(GradientRule.SUFFIX)
                ? companion(Backward.forward(name), scope)
                : found == null ? "" : found;
    }

    /** The companion that an operation writes for a variable that it writes. */
    private String target(String name, Scope scope) {
        String companion = needs.isChanging(name) ? names.home(name, scope.block) : names.fresh(name, scope.block);
        if (needs.isChanging(name)) {
            homes.add(companion);
        }
        scope.companions.put(name, companion);
        return companion;
    }

    /** Makes a variable take over a companion. */
    private void bind(String name, String companion, Scope scope) {
        if (!needs.isChanging(name) && !homes.contains(companion)) {
            scope.companions.put(name, companion);
            return;
        }
        boolean isList = CompanionNeeds.isList(scope.block, name);
        String target = target(name, scope);
        if (!companion.equals(target) && !(isList && companion.isEmpty())) {
            scope.ops.add(OpDesc.of("assign").in("X", named(companion)).out("Out", target).build());
        }
    }
}
