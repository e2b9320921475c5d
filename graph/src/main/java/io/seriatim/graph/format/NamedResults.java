package io.seriatim.graph.format;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * A program whose results have the names that its user gave them.
 *
 * @param program
 *            the program
 * @param feeds
 *            the variables that the results need to be fed, in the order of their declaration
 * @param fetches
 *            the variables of the results
 */
public record NamedResults(Program program, List<String> feeds, List<String> fetches) {
    /** Copies the lists. */
    public NamedResults {
        feeds = List.copyOf(feeds);
        fetches = List.copyOf(fetches);
    }

    /**
     * Renames results. One whose name is that of another variable, that is fed, or that outlives runs keeps the name of
     * its variable.
     *
     * @param inference
     *            a program for inference; it is not changed
     * @param fed
     *            the variables that it is fed, in order
     * @param variables
     *            the variables of results by the names that the user gave them
     * @param wanted
     *            the names of the results that are wanted
     * @param kept
     *            variables that keep their names in any case
     * @return a program with at least these results
     * @throws IllegalArgumentException
     *             if nothing is wanted, or nothing produces a result
     */
    public static NamedResults of(Program inference, List<String> fed, Map<String, String> variables,
            List<String> wanted, Set<String> kept) {
        if (wanted.isEmpty()) {
            throw new IllegalArgumentException("A model has at least one output, but none is named");
        }
        Map<String, String> names = new LinkedHashMap<>();
        List<String> fetches = new ArrayList<>();
        for (String name : wanted) {
            String variable = Objects.requireNonNull(variables.get(name));
            VarDesc desc = inference.global().get(variable);
            boolean keeps = kept.contains(variable) || desc.isPersistable() || fed.contains(variable)
                    || inference.blocks().stream().anyMatch(block -> block.var(name) != null);
            if (!keeps) {
                names.putIfAbsent(variable, name);
            }
            fetches.add(names.getOrDefault(variable, variable));
        }
        Program program = inference.renamed(names);
        Set<String> needed = read(program.prune(fed, fetches));
        return new NamedResults(program,
                fed.stream().filter(name -> needed.contains(name) || fetches.contains(name)).toList(), fetches);
    }

    private static Set<String> read(Program program) {
        Set<String> read = new HashSet<>();
        for (Block block : program.blocks()) {
            block.ops().stream().map(OpDesc::inputNames).forEach(read::addAll);
        }
        return read;
    }
}
