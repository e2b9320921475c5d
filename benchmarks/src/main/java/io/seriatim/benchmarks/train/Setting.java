package io.seriatim.benchmarks.train;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Pass;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How all works of a run are measured.
 *
 * @param quick
 *            whether few steps do
 * @param precision
 *            in what products and convolutions are computed in training
 * @param without
 *            passes that plans are made without
 */
record Setting(boolean quick, Precision precision, Set<Pass> without) {
    private static final int QUICK_PART = 10;

    /** In what products and convolutions are computed. */
    enum Precision {
        /** As the peers do. */
        F32,
        /** The parameters stay float32. */
        BF16
    }

    Setting {
        without = without.isEmpty() ? Set.of() : Set.copyOf(without);
    }

    /** All of the numbers, or a tenth. */
    int part(int count) {
        return quick ? count / QUICK_PART : count;
    }

    boolean isBfloat16() {
        return precision == Precision.BF16;
    }

    Executor.Builder builder(int threads) {
        return Executor.builder().threads(threads).without(without.toArray(Pass[]::new));
    }

    /** For the command line of another process. */
    Stream<String> arguments() {
        return Stream.of(String.valueOf(quick), precision.name(), passes());
    }

    static Setting parse(String quick, String precision, String passes) {
        Set<Pass> without = EnumSet.noneOf(Pass.class);
        Arrays.stream(passes.split(",", -1)).filter(name -> !name.isEmpty()).map(Pass::valueOf).forEach(without::add);
        return new Setting(Boolean.parseBoolean(quick), Precision.valueOf(precision), without);
    }

    /** What is not as the peers do it, for lines of figures. */
    Figures note(Figures figures) {
        if (isBfloat16()) {
            figures.with("precision", precision.name().toLowerCase(Locale.ROOT));
        }
        return without.isEmpty() ? figures : figures.with("without", passes());
    }

    private String passes() {
        return without.stream().sorted().map(Pass::name).collect(Collectors.joining(","));
    }
}
