package io.seriatim.stress;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;

/** Runs the races, then the mutants; fails if a race has a forbidden outcome, or if a mutant has none. */
final class StressRun {
    private static final List<Class<?>> MUTANTS = List.of(MutantBell.class, MutantRace.class, MutantTakeBack.class);
    // Anchored on both sides, because jcstress searches for a match anywhere in the name.
    private static final String MUTANT =
            "^(" + MUTANTS.stream().map(Class::getName).collect(Collectors.joining("|")) + ")$";
    private static final String RACES = "^(?!" + MUTANT.substring(1) + ")";

    private static final String QUICK = "quick";
    // Most of the time is spent on starting JVMs with different compilers, so each runs fewer iterations than the
    // mode's five.
    private static final List<String> QUICK_RACES = List.of("-m", QUICK, "-iters", "3");
    // Detected in each iteration, with each compiler.
    private static final List<String> QUICK_MUTANT = List.of("-m", QUICK, "-iters", "1");

    private StressRun() {
    }

    /**
     * Runs in the folder of the results.
     *
     * @param args
     *            jcstress' mode: quick, default, tough; then, if given, a regular expression for the names of the races
     */
    public static void main(String[] args) throws Exception {
        String mode = args[0];
        List<String> wrong = new ArrayList<>();
        for (TestResult result : run(args.length > 1 ? RACES + ".*(" + args[1] + ")" : RACES,
                mode.equals(QUICK) ? QUICK_RACES : List.of("-m", mode))) {
            if (result.status() != Status.NORMAL || !result.grading().isPassed) {
                wrong.add(describe(result));
            }
        }
        Set<String> found = run(MUTANT, QUICK_MUTANT).stream().filter(StressRun::isCaught).map(TestResult::getName)
                .collect(Collectors.toSet());
        for (Class<?> mutant : MUTANTS) {
            if (!found.contains(mutant.getName())) {
                wrong.add(mutant.getSimpleName()
                        + " has no forbidden outcome, so that races of this kind are not found here");
            }
        }
        wrong.forEach(line -> System.err.println("stress: " + line));
        System.exit(wrong.isEmpty() ? 0 : 1);
    }

    private static Collection<TestResult> run(String tests, List<String> howLong) throws Exception {
        // Without affinity, because the engine's threads would inherit the single processor of the thread that pushed
        // first.
        List<String> args = new ArrayList<>(List.of("-t", tests, "-af", "NONE", "-sc", "false", "-r", "jcstress"));
        args.addAll(howLong);
        Options options = new Options(args.toArray(String[]::new));
        if (!options.parse()) {
            throw new IllegalArgumentException("jcstress does not take " + args);
        }
        JCStress jcstress = new JCStress(options);
        Set<String> missing = new TreeSet<>(jcstress.getTests());
        try {
            jcstress.run();
        } catch (AssertionError e) {
            // jcstress fails on forbidden outcomes, which are also in the results; the caller interprets them.
        }
        InProcessCollector results = new InProcessCollector();
        DiskReadCollector file = new DiskReadCollector(options.getResultFile(), results);
        file.dump();
        file.close();
        results.getTestResults().forEach(result -> missing.remove(result.getName()));
        if (results.getTestResults().isEmpty() || !missing.isEmpty()) {
            throw new IllegalStateException("no result of " + (missing.isEmpty() ? tests : missing));
        }
        return results.getTestResults();
    }

    private static boolean isCaught(TestResult result) {
        return result.status() == Status.NORMAL && !result.grading().isPassed;
    }

    private static String describe(TestResult result) {
        String outcomes = result.getStateKeys().stream().map(key -> result.getCount(key) + " times " + key)
                .collect(Collectors.joining("; "));
        return result.getName() + ": " + result.status() + ", " + result.grading().failureMessages + ", outcomes "
                + outcomes
                + ", messages "
                + result.getMessages() + result.getVmErr();
    }
}
