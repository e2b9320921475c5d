package io.seriatim.train.model;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.train.Model;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Finds the parts of a training program. */
final class ProgramParts {
    private static final String GRADIENT = "@GRAD";
    private static final String ROLE = "op_role";
    private static final int BACKWARD = 1;
    private static final int OPTIMIZE = 2;
    private static final int LOSS = 256;

    private final Program main;
    private final Block global;

    ProgramParts(Program main) {
        this.main = main;
        this.global = main.global();
    }

    private static int role(OpDesc op) {
        return op.attribute(ROLE) instanceof Attribute.Int(int role) ? role : 0;
    }

    private static boolean isForward(OpDesc op) {
        return (role(op) & (BACKWARD | OPTIMIZE)) == 0;
    }

    Model model(String name, Program startup, List<String> givenFeeds, @Nullable String givenLoss) {
        if (global.ops().stream().noneMatch(op -> (role(op) & OPTIMIZE) != 0)) {
            throw new IllegalArgumentException(
                    "A program that is trained must have an optimizer's operations, but this has "
                            + global.ops().size()
                            + " operations and none of these: save the main program after minimize(loss)");
        }
        String loss = givenLoss == null ? loss() : givenLoss;
        checkLoss(loss);
        List<String> feeds = givenFeeds.isEmpty() ? feeds() : List.copyOf(givenFeeds);
        feeds.forEach(feed -> require(feed, "--feed"));
        List<String> missing = feeds().stream().filter(feed -> !feeds.contains(feed)).toList();
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException(
                    "The program must be fed " + feeds() + ", but is fed " + feeds + ": give '"
                            + missing.getFirst() + "' as well, with --feed " + missing.getFirst() + "=FILE.npy");
        }
        Program test = main.copyForTest();
        Map<String, String> metrics = metrics(test.global());
        Prediction prediction = new Prediction(test.global(), feeds);
        List<String> outputs = prediction.of(loss);
        Set<String> targets = new LinkedHashSet<>(List.of(loss));
        targets.addAll(metrics.values());
        targets.addAll(outputs);
        Program evaluation = evaluation(test, feeds, List.copyOf(targets));
        feeds.forEach(feed -> evaluation.global().put(global.get(feed)));
        return new Model(name, main.copy(), startup.copy(), evaluation, feeds, loss, metrics, Map.of(),
                prediction.feeds(outputs), outputs,
                "examples", 1);
    }

    /**
     * Returns the evaluation program. A loss that depends on gradients needs the backward part, and so the training
     * form.
     */
    private Program evaluation(Program test, List<String> feeds, List<String> targets) {
        Program evaluation = test.prune(feeds, targets);
        return feeds.containsAll(new ProgramParts(evaluation).feeds()) ? evaluation : main.prune(feeds, targets);
    }

    private VarDesc require(String name, String option) {
        VarDesc desc = global.var(name);
        if (desc == null) {
            throw new IllegalArgumentException(
                    "The program has no variable '" + name + "': give one of its variables with " + option
                            + ", which 'seriatim show' lists");
        }
        return desc;
    }

    private void checkLoss(String loss) {
        VarType.TensorType type = require(loss, "--loss").tensor();
        if (type.dims().stream().anyMatch(dim -> dim != 1)) {
            throw new IllegalArgumentException(
                    "The loss must have one element, but '" + loss + "' is " + type
                            + ": give its mean with --loss NAME");
        }
    }

    /**
     * Finds the loss by the constant gradient at the start of the backward part; with mixed precision it is the
     * gradient of the scaled loss.
     */
    String loss() {
        Set<String> candidates = new LinkedHashSet<>();
        for (OpDesc op : global.ops()) {
            if (op.type().equals("fill_constant") && role(op) == (BACKWARD | LOSS)) {
                op.outputNames().stream().filter(name -> name.endsWith(GRADIENT))
                        .forEach(
                                name -> candidates.add(unscaled(name.substring(0, name.length() - GRADIENT.length()))));
            }
        }
        if (candidates.isEmpty()) {
            global.ops().stream().filter(op -> op.type().startsWith("fetch"))
                    .forEach(op -> candidates.addAll(op.input("X")));
        }
        if (candidates.size() != 1) {
            throw new IllegalArgumentException(candidates.isEmpty()
                    ? "The program's loss cannot be found, as no operation begins backward: give it with --loss NAME"
                    : "The program has several losses, " + candidates + ": give one with --loss NAME");
        }
        return candidates.iterator().next();
    }

    private String unscaled(String name) {
        for (OpDesc op : global.ops()) {
            if (op.type().equals("elementwise_mul") && isForward(op) && op.output("Out").contains(name)
                    && op.input("Y").getFirst().contains("loss_scaling")) {
                return op.input("X").getFirst();
            }
        }
        return name;
    }

    List<String> feeds() {
        List<OpDesc> fed = global.ops().stream().filter(op -> op.type().equals("feed"))
                .sorted(Comparator.comparingInt(ProgramParts::column))
                .toList();
        if (!fed.isEmpty()) {
            return fed.stream().map(op -> op.output("Out").getFirst()).toList();
        }
        Set<String> written = new HashSet<>();
        Set<String> feeds = new LinkedHashSet<>();
        for (OpDesc op : global.ops()) {
            for (String name : op.inputNames()) {
                VarDesc desc = global.var(name);
                if (desc != null && !desc.isPersistable() && desc.type() instanceof VarType.Dense
                        && !written.contains(name)) {
                    feeds.add(name);
                }
            }
            written.addAll(op.outputNames());
        }
        return List.copyOf(feeds);
    }

    private static int column(OpDesc op) {
        return op.attribute("col") instanceof Attribute.Int(int column) ? column : 0;
    }

    Optional<String> rate() {
        Map<String, Long> counts = global.ops().stream().filter(op -> (role(op) & OPTIMIZE) != 0)
                .map(op -> op.inputs().getOrDefault("LearningRate", List.of())).flatMap(Collection::stream)
                .filter(this::outlivesRuns)
                .collect(Collectors.groupingBy(Function.identity(), LinkedHashMap::new, Collectors.counting()));
        return counts.entrySet().stream().max(Map.Entry.comparingByValue()).map(Map.Entry::getKey);
    }

    private boolean outlivesRuns(String name) {
        VarDesc desc = global.var(name);
        return desc != null && desc.isPersistable();
    }

    private static Map<String, String> metrics(Block test) {
        Map<String, String> metrics = new LinkedHashMap<>();
        List<String> accuracies = test.ops().stream().filter(op -> op.type().equals("accuracy"))
                .map(op -> op.output("Accuracy").getFirst()).toList();
        accuracies.forEach(each -> metrics.put(accuracies.size() == 1 ? "accuracy" : each, each));
        return metrics;
    }
}
