package io.seriatim.train;

import io.seriatim.executor.Scope;
import io.seriatim.graph.format.ParameterFiles;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.StagedFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The checkpoints of a run. Each is a folder named by the number of completed steps. It holds the persistable variables
 * ({@code variables.pdiparams}, in PaddlePaddle's format, sorted by name) and the state of the training
 * ({@code state.properties}). A folder is written under a temporary name and then moved into place, so every checkpoint
 * is complete.
 */
final class Checkpoints {
    private static final String VARIABLES = "variables.pdiparams";
    private static final String STATE = "state.properties";
    private static final String PARTIAL = ".part";
    private static final int KEPT = 2;

    private final Path folder;

    private Checkpoints(Path folder) {
        this.folder = folder;
    }

    static Checkpoints in(Path run) {
        return new Checkpoints(run.resolve("checkpoints"));
    }

    Path write(TrainingState state, Program program, Scope scope) throws IOException {
        Path target = of(state.step());
        Files.createDirectories(folder);
        removeLeftOvers();
        try (StagedFiles staged = StagedFiles.folder(target)) {
            ParameterFiles.writeCombined(staged.file(VARIABLES), program, scope::find);
            state.write(staged.file(STATE));
            remove(state.step());
            staged.publishAsFolder();
        }
        thin(state);
        return target;
    }

    Path of(long step) {
        return folder.resolve(Long.toString(step));
    }

    /** Returns the steps of all checkpoints, in ascending order. */
    List<Long> steps() throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> String.valueOf(file.getFileName())).filter(name -> name.matches("\\d{1,18}"))
                    .map(Long::valueOf)
                    .sorted()
                    .toList();
        }
    }

    Path latest() throws IOException {
        List<Long> steps = steps();
        if (steps.isEmpty()) {
            throw new NoSuchFileException(folder.toString(), null,
                    "there is no checkpoint to resume from: train into a new folder");
        }
        return of(steps.getLast());
    }

    static TrainingState state(Path checkpoint) throws IOException {
        return TrainingState.read(checkpoint.resolve(STATE));
    }

    /** Sets all variables of a checkpoint, or none if it cannot be read. */
    void load(Path checkpoint, Program program, Scope scope) throws IOException {
        ParameterFiles.readCombined(checkpoint.resolve(VARIABLES), program).forEach(scope::set);
    }

    /** Deletes all checkpoints but the newest ones and the best one. */
    private void thin(TrainingState state) throws IOException {
        List<Long> steps = new ArrayList<>(steps());
        steps.remove(state.bestStep());
        for (long step : steps.subList(0, Math.max(0, steps.size() - KEPT))) {
            remove(step);
        }
    }

    /**
     * Renames a checkpoint before its files are deleted, because a partially deleted one would look like a checkpoint.
     */
    private void remove(long step) throws IOException {
        Path checkpoint = of(step);
        if (Files.exists(checkpoint)) {
            Path removed = folder.resolve("." + step + ".removed" + PARTIAL);
            Files.move(checkpoint, removed, StandardCopyOption.ATOMIC_MOVE);
            delete(removed);
        }
    }

    private void removeLeftOvers() throws IOException {
        List<Path> found;
        try (Stream<Path> files = Files.list(folder)) {
            found = files.filter(file -> String.valueOf(file.getFileName()).endsWith(PARTIAL)).toList();
        }
        for (Path file : found) {
            delete(file);
        }
    }

    private static void delete(Path tree) throws IOException {
        if (!Files.exists(tree)) {
            return;
        }
        List<Path> files;
        try (Stream<Path> walk = Files.walk(tree)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
    }
}
