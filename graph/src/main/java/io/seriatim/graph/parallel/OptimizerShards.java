package io.seriatim.graph.parallel;

import io.seriatim.device.Place;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Which rank keeps the optimizer's state of each parameter, updates the parameter and copies it to the others (ZeRO,
 * stage 1: Rajbhandari and others, 2020). Parameters are not cut: state keeps its names and shapes, so that checkpoints
 * are those of any number of ranks, and optimizers with norms of whole parameters work. The parameters with the most
 * bytes of state are assigned first, each to the rank with the fewest.
 *
 * <p>
 * State is what only the updates of one parameter use, and write. Everything else in the optimizer, such as the norm of
 * all gradients, is computed by all ranks.
 *
 * @param parameters
 *            the owner of each parameter that has state
 * @param state
 *            the owner of each variable of state
 * @param firsts
 *            of each variable at another place than the first, that of the first place
 */
record OptimizerShards(Map<String, Integer> parameters, Map<String, Integer> state, Map<String, String> firsts) {
    static final OptimizerShards NONE = new OptimizerShards(Map.of(), Map.of(), Map.of());

    private static final String PARAMETER = "Param";
    /** In place of a parameter: everybody who is no update of one. */
    private static final String OTHERS = "";

    static OptimizerShards of(List<OpDesc> ops, Block block, int ranks, Set<String> seen, Map<String, String> firsts) {
        Map<String, Set<String>> users = new HashMap<>();
        for (OpDesc op : ops) {
            String user = isUpdate(op) ? op.input(PARAMETER).getFirst() : OTHERS;
            BlockAccesses.read(op, block.program())
                    .forEach(name -> users.computeIfAbsent(name, _ -> new HashSet<>()).add(user));
            BlockAccesses.written(op, block.program())
                    .forEach(name -> users.computeIfAbsent(name, _ -> new HashSet<>()).add(user));
        }
        seen.forEach(name -> users.computeIfAbsent(name, _ -> new HashSet<>()).add(OTHERS));
        Map<String, Set<String>> state = new LinkedHashMap<>();
        Set<String> whole = new HashSet<>();
        for (OpDesc op : ops) {
            if (isUpdate(op)) {
                String parameter = op.input(PARAMETER).getFirst();
                for (String name : op.outputNames()) {
                    if (name.equals(parameter)) {
                        continue;
                    }
                    if (isState(block.find(name)) && Set.of(parameter).equals(users.get(name))) {
                        state.computeIfAbsent(parameter, _ -> new HashSet<>()).add(name);
                    } else {
                        // Others need a result of the update.
                        whole.add(parameter);
                    }
                }
            }
        }
        state.keySet().removeAll(whole);
        Map<String, Long> bytes = new LinkedHashMap<>();
        state.forEach((parameter, names) -> bytes.merge(firsts.getOrDefault(parameter, parameter),
                names.stream().mapToLong(name -> bytes(block.get(name))).sum(), Long::sum));
        Map<String, Integer> chosen = GradientOwners.of(bytes, IntStream.range(0, ranks).boxed().toList());
        Map<String, Integer> owners = new HashMap<>();
        Map<String, Integer> ofState = new TreeMap<>();
        state.forEach((parameter, names) -> {
            // All places of a rank update what it owns.
            int owner = chosen.getOrDefault(firsts.getOrDefault(parameter, parameter), 0);
            owners.put(parameter, owner);
            names.forEach(name -> ofState.put(name, owner));
        });
        return new OptimizerShards(owners, ofState, firsts);
    }

    /** Whether an operation updates one parameter in place, and does nothing else than write its results. */
    private static boolean isUpdate(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        return Replication.isUpdate(op) && op.input(PARAMETER).size() == 1
                && op.output("ParamOut").equals(op.input(PARAMETER))
                && schema != null && !schema.effects().contains(Effect.COMMUNICATION);
    }

    private static boolean isState(@Nullable VarDesc desc) {
        return desc != null && desc.isPersistable() && desc.type() instanceof VarType.Dense
                && desc.tensor().dims().stream().allMatch(dim -> dim >= 0);
    }

    private static long bytes(VarDesc desc) {
        return desc.tensor().dims().stream().reduce((long) desc.tensor().dtype().bytes(), (a, b) -> a * b);
    }

    /** The rank that runs an operation for all; −1 if all run it. */
    int owner(OpDesc op) {
        return isUpdate(op) ? parameters.getOrDefault(op.input(PARAMETER).getFirst(), -1) : -1;
    }

    /** What other ranks than the owner do in place of an update: the first place gets the owner's, others copy it. */
    void replace(OpDesc update, int owner, boolean isOwner, List<OpDesc> written) {
        String parameter = update.input(PARAMETER).getFirst();
        String first = firsts.get(parameter);
        boolean isCopied = first != null && written.stream()
                .anyMatch(op -> op.type().equals("c_broadcast") && op.outputNames().contains(first));
        if (first == null || !isCopied) {
            written.add(copied(parameter, owner));
        } else if (!isOwner) {
            OpDesc.Builder copy = OpDesc.of("assign").in("X", first).out("Out", parameter);
            Attribute.Named device = update.attributes().stream().filter(each -> each.name().equals(Roles.DEVICE))
                    .findFirst().orElseThrow();
            written.add(Appender.complete(copy.attr(Roles.DEVICE, device.value()).build(), Roles.OPTIMIZE));
        }
    }

    /** Copies a variable from a rank to all. */
    static OpDesc copied(String name, int owner) {
        return Appender.complete(OpDesc.of("c_broadcast").in("X", name).out("Out", name).attr("root", owner)
                .attr(Roles.DEVICE, Place.CPU.toString()).build(), Roles.OPTIMIZE);
    }

    /** The program of a rank that brings the state of all to rank 0. Other ranks do not keep it. */
    Program gathering(Block block, int rank) {
        Program program = new Program();
        state.forEach((name, owner) -> {
            if (firsts.containsKey(name)) {
                return;
            }
            VarDesc desc = block.get(name);
            boolean isKept = rank == 0 || rank == owner;
            program.global().put(isKept ? desc : VarDesc.of(name, desc.type()));
            if (rank != owner) {
                program.global().add(Appender.complete(OpDesc.of("fill_constant").out("Out", name)
                        .attr("shape", desc.tensor().dims().stream().mapToLong(dim -> dim).toArray())
                        .attr("dtype", DataTypes.number(desc.tensor().dtype())).attr("value", 0f)
                        .attr(Roles.DEVICE, Place.CPU.toString()).build(), Roles.OPTIMIZE));
            }
            program.global().add(copied(name, owner));
        });
        return program;
    }
}
