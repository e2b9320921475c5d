package io.seriatim.graph;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Problem;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether a program can be run, as far as the program alone tells: without parameters, without feeds, and without
 * running an operation.
 *
 * @param problems
 *            all that stands against it: types that are not known, attributes that are refused, attributes and slots
 *            that do not fit the declared variables, and places that there are not
 */
public record ProgramCheck(List<Problem> problems) {
    /** How the names of GPUs begin, which stand for accelerators of any kind, and for the host if there are none. */
    private static final String GPU = "gpu";

    /**
     * Copies the list.
     *
     * @param problems
     *            in the order in which they are reported
     */
    public ProgramCheck {
        problems = List.copyOf(problems);
    }

    /**
     * Examines a program.
     *
     * @param program
     *            any, which is not changed
     * @return what is wrong with it
     */
    public static ProgramCheck of(Program program) {
        List<Problem> problems = new ArrayList<>(Operations.system().problems(program));
        Set<String> reported = new HashSet<>();
        problems.forEach(problem -> reported.add(problem.type()));
        Map<String, Problem> misfits = new LinkedHashMap<>();
        Map<String, Problem> places = new LinkedHashMap<>();
        Map<String, String> asked = new HashMap<>();
        for (Block block : program.blocks()) {
            for (int i = 0; i < block.ops().size(); i++) {
                OpDesc op = block.ops().get(i);
                String misfit = reported.contains(op.type()) ? null : misfit(block, op);
                if (misfit != null) {
                    add(misfits, op.type(), Problem.Kind.MISFIT, op, misfit, block, i);
                }
                String place = op.attribute(Roles.DEVICE) instanceof Attribute.Text(String text)
                        ? asked.computeIfAbsent(text, ProgramCheck::missing)
                        : "";
                if (!place.isEmpty()) {
                    add(places, op.type() + " " + place, Problem.Kind.PLACE, op, place, block, i);
                }
            }
        }
        problems.addAll(misfits.values());
        problems.addAll(places.values());
        return new ProgramCheck(problems);
    }

    private static void add(Map<String, Problem> problems, String key, Problem.Kind kind, OpDesc op, String reason,
            Block block, int index) {
        Problem first = problems.get(key);
        problems.put(key, first == null
                ? new Problem(kind, op.type(), reason, block.index(), index, 1)
                : new Problem(kind, op.type(), first.reason(), first.block(), first.index(), first.count() + 1));
    }

    /** Why an operation cannot be inferred from the types that the program declares; null if it can. */
    private static @Nullable String misfit(Block block, OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        if (schema == null || !schema.isLowered()) {
            return null;
        }
        try {
            Appender.infer(block, op);
            return null;
        } catch (IllegalArgumentException | ArithmeticException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Why a place that operations ask for is not there; empty if it is. */
    private static String missing(String name) {
        if (name.isBlank() || name.startsWith(GPU)) {
            return "";
        }
        try {
            Place place = Place.parse(name);
            return place.isHost() || Devices.system().found().contains(place)
                    ? ""
                    : "it asks for the place '" + name + "', but there are " + Devices.system().found();
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /**
     * Whether nothing is known to stand against it.
     *
     * @return true if a run with fitting feeds and parameters is to be expected
     */
    public boolean runs() {
        return problems.isEmpty();
    }
}
