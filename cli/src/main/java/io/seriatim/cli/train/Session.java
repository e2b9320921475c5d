package io.seriatim.cli.train;

import io.seriatim.cli.text.Machine;
import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.ProgramFailedException;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.interpret.AllowedFiles;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.StagedFiles;
import io.seriatim.tensor.onednn.OneDnn;
import io.seriatim.train.NotFiniteException;
import io.seriatim.train.RunLock;
import io.seriatim.train.StopSignal;
import io.seriatim.train.Trainer;
import io.seriatim.train.TrainingListener;
import io.seriatim.train.data.ClassNames;
import io.seriatim.train.data.TableEncoding;
import io.seriatim.train.metrics.EventFile;
import io.seriatim.train.metrics.History;
import io.seriatim.train.metrics.JsonLines;
import io.seriatim.train.metrics.Progress;
import io.seriatim.train.metrics.Summary;
import io.seriatim.train.model.NameSampler;
import io.seriatim.train.report.Extra;
import io.seriatim.train.report.TrainingReport;
import java.io.Console;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One training of the command line. All settings are resolved, and checked as far as possible, before any file is
 * written.
 */
final class Session {
    private static final int INVENTED = 20;
    private static final double TEMPERATURE = 0.8;
    private static final String PADDLE = "pdmodel";
    private static final String METRICS = "metrics.jsonl";
    private static final String REPORT = "report.html";

    private final Job job;
    private final Path folder;
    private final boolean resume;
    private final RunLock lock;
    private final int threads;
    private final TrainingRanks ranks;
    private final PrintWriter out;
    private final PrintWriter err;
    private final StopSignal stop = new StopSignal();
    private final RunRecorder recorder = new RunRecorder();
    private final History history;
    private final Trainer trainer;
    private boolean started;
    private final Progress progress;
    private final JsonLines lines;
    private final EventFile events;

    Session(Job job, Path folder, int threads, AllowedFiles files, boolean resume, TrainingRanks ranks, PrintWriter out,
            PrintWriter err) throws IOException {
        this.job = job;
        this.folder = folder;
        this.resume = resume;
        this.threads = threads;
        this.ranks = ranks;
        this.out = out;
        this.err = err;
        progress = new Progress(new PrintStream(System.out, true, System.out.charset()), isTerminal());
        lines = new JsonLines(folder.resolve(METRICS));
        events = new EventFile(folder);
        requirePlaces();
        lock = RunLock.of(folder);
        boolean made = false;
        try {
            if (resume) {
                lock.acquire();
            }
            history = resume ? History.read(folder.resolve(METRICS), Trainer.latestCheckpoint(folder)) : new History();
            trainer = trainer(files);
            made = true;
        } finally {
            if (!made) {
                lock.close();
            }
        }
    }

    /** Refuses a folder in which a file of the run would replace one of the program or the data. */
    private void requirePlaces() throws IOException {
        List<Path> places = new ArrayList<>();
        for (String name : List.of(METRICS, Settings.FILE, REPORT, "run.lock")) {
            places.add(folder.resolve(name));
        }
        for (String format : formats()) {
            places.addAll(InferenceModels.files(place(format)));
        }
        places.addAll(tables());
        for (Path place : places) {
            StagedFiles.requireReplaceable(place);
            InputFiles.requireNotRead(place);
        }
    }

    /** The files with the encoding of a table: one beside each model. */
    private List<Path> tables() {
        return job.table() == null
                ? List.of()
                : formats().stream().map(format -> place(format).resolveSibling(TableEncoding.FILE)).distinct()
                        .toList();
    }

    /** The file of the saved model. The parameters of both formats of PaddlePaddle have the same name. */
    private Path place(String format) {
        boolean shared = format.equals("json") && formats().contains(PADDLE);
        return (shared ? folder.resolve(format) : folder).resolve("model." + format);
    }

    // This holds unless jdk.console names a provider other than that of java.base.
    @SuppressWarnings("SystemConsoleNull")
    private static boolean isTerminal() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }

    private Trainer trainer(AllowedFiles files) {
        Trainer.Builder builder = options(job, threads, files, ranks).folder(folder).lock(lock).stop(stop)
                .recorder(recorder).listener(new Opening()).listener(history).listener(lines).listener(events)
                .listener(progress);
        return resume ? builder.resume().build() : builder.build();
    }

    /** The options that all ranks of a training have in common. */
    private static Trainer.Builder options(Job job, int threads, AllowedFiles files, TrainingRanks ranks) {
        Settings settings = job.settings();
        Trainer.Builder builder = Trainer.of(job.model(), job.split()).batch(settings.batch()).epochs(settings.epochs())
                .seed(settings.seed()).places(places(settings.places())).threads(threads).files(files)
                .patience(settings.patience())
                .evaluateEvery(settings.evaluateEvery()).checkpointEvery(settings.checkpointEvery())
                .exchange(settings.exchange());
        if (settings.steps() > 0) {
            builder.steps(settings.steps());
        }
        Communicator communicator = ranks.communicator();
        return communicator == null ? builder : builder.communicator(communicator);
    }

    /** Trains as a rank that writes nothing, and returns whether the training was stopped before its end. */
    static boolean follow(Job job, int threads, AllowedFiles files, TrainingRanks ranks) throws IOException {
        StopSignal stop = new StopSignal();
        // Rank 0 says what the signal does.
        Interrupts.handle(stop, new PrintWriter(Writer.nullWriter()));
        return options(job, threads, files, ranks).stop(stop).build().run().end() == TrainingListener.End.STOPPED;
    }

    private void printRanks() {
        int began = job.settings().ranks();
        if (ranks.size() > 1 || (resume && began > 1)) {
            out.println("ranks     " + ranks.size() + (resume && began != ranks.size()
                    ? " instead of " + began + ": each batch is shared otherwise, so that sums are rounded otherwise"
                    : " processes, each with " + job.settings().batch() / ranks.size() + " examples of a batch"));
        }
    }

    private static List<Place> places(String text) {
        return Arrays.stream(text.split(",", -1)).map(String::strip).map(Place::parse).toList();
    }

    /** Whether files have been written. */
    boolean hasBegun() {
        return started;
    }

    /** Writes the settings after the training has created and locked the folder. */
    private final class Opening implements TrainingListener {
        @Override
        public void started(Started training) throws IOException {
            if (!resume) {
                // Another training may have started a run in this folder while this one read its data.
                Settings.requireNoRun(folder);
                stop.whileWriting(() -> job.settings().write(folder, trainer.fingerprint()));
            }
            started = true;
        }
    }

    /** Trains, and returns whether it was stopped before its end. */
    boolean train() throws IOException {
        try (lock) {
            return trainLocked();
        }
    }

    private boolean trainLocked() throws IOException {
        out.println(Printable.of("data      " + job.data()));
        if (job.text() != null) {
            out.println(
                    String.format(Locale.ROOT, "baseline  %.4f nats per character, by a bigram model", job.baseline()));
        }
        printRanks();
        out.println(Printable.of("folder    " + folder));
        List<String> ignored = Interrupts.handle(stop, err);
        if (ignored.contains("INT")) {
            out.println(
                    "signals   Ctrl-C does not stop this training, because it was started with the signal INT ignored"
                            + (ignored.contains("TERM")
                                    ? " and TERM, too"
                                    : ": use kill " + ProcessHandle.current().pid()));
        }
        out.flush();
        Trainer.Result result;
        try (progress; lines; events) {
            result = trainer.run();
        } catch (NotFiniteException | ProgramFailedException e) {
            if (started) {
                report(List.of(), e);
            }
            throw e;
        }
        Map<String, Path> files = new LinkedHashMap<>();
        boolean stopped = result.end() == TrainingListener.End.STOPPED;
        List<NameSampler.Invention> names = stopped ? List.of() : save(files);
        files.put("report", report(names, null));
        Summary.lines(history, files).forEach(line -> out.println(Printable.of(line)));
        print(names);
        if (stopped) {
            out.println(Printable.of("resume with: ./seriatim train --resume " + folder));
        }
        out.flush();
        return stopped;
    }

    private Path report(List<NameSampler.Invention> names, @Nullable Throwable failure) throws IOException {
        Settings settings = job.settings();
        TrainingReport report = new TrainingReport(job.model().name()).subtitle(job.data());
        Map<String, Double> baselines = job.text() == null ? Map.of() : Map.of("bigram model", job.baseline());
        report.history(history, baselines).step(recorder.trace(), "the recorded step").graph(job.model().main());
        if (!names.isEmpty()) {
            boolean known = job.text() != null && job.text().names() != null;
            report.extra(new Extra("Invented",
                    List.of("Sampled from the saved model, at temperature " + TEMPERATURE + "."),
                    known ? List.of("name", "exists") : List.of("text"), names.stream()
                            .map(each -> new Extra.Row(
                                    known ? List.of(each.name(), each.exists() ? "yes" : "no") : List.of(each.name()),
                                    each.exists()))
                            .toList()));
        }
        OneDnn.Status kernels = OneDnn.status();
        report.environment("Machine", Machine.describe());
        report.environment("Kernels",
                kernels.loaded() ? "oneDNN " + kernels.version() + ", " + kernels.instructions() : "plain Java");
        report.environment("Threads", Integer.toString(threads));
        // 0 means that the network or the program decides.
        settings.lines().forEach((name, value) -> {
            if (name.equals("seed") || !value.matches("0(\\.0)?")) {
                report.environment(name, value);
            }
        });
        if (failure != null) {
            report.failure(failure);
        }
        Path file = folder.resolve(REPORT);
        stop.whileWriting(() -> report.write(file));
        return file;
    }

    private List<NameSampler.Invention> save(Map<String, Path> files) throws IOException {
        Path model = folder.resolve("model");
        // Before the models, so that none is there without its encoding.
        for (Path table : tables()) {
            Files.createDirectories(Objects.requireNonNull(table.getParent()));
            TableEncoding encoding = Objects.requireNonNull(job.table());
            stop.whileWriting(() -> encoding.save(table));
            files.putIfAbsent("table", table);
        }
        for (String format : formats()) {
            String name = files.containsKey("model") ? "model as " + format : "model";
            if (format.equals(PADDLE) && job.settings().lossOfModel() == null) {
                trainer.save(model);
                files.put(name, folder.resolve("model.pdmodel"));
            } else {
                Path file = place(format);
                Files.createDirectories(Objects.requireNonNull(file.getParent()));
                trainer.saveAs(file);
                files.put(name, file);
            }
        }
        return job.text() == null ? List.of() : invent(job.text(), Objects.requireNonNull(files.get("model")));
    }

    /** The formats that the settings name, or that of the model that was loaded. */
    private List<String> formats() {
        Settings settings = job.settings();
        if (!settings.save().isEmpty()) {
            return settings.save();
        }
        Path loaded = Path.of(settings.what());
        boolean own = settings.lossOfModel() != null
                && InferenceModels.formats().stream().anyMatch(format -> format.writes(loaded));
        return List.of(own ? settings.what().substring(settings.what().lastIndexOf('.') + 1) : PADDLE);
    }

    /** Samples with the saved files, not with the model in memory. */
    private List<NameSampler.Invention> invent(Job.Text text, Path model) throws IOException {
        try (InferenceModels.InferenceModel saved = InferenceModels.load(model);
                Executor executor = Executor.on(Place.CPU)) {
            ClassNames names = text.names();
            return NameSampler.of(executor, saved, text.vocabulary()).invent(INVENTED, TEMPERATURE,
                    job.settings().seed(),
                    name -> names != null && names.contains(name));
        }
    }

    private void print(List<NameSampler.Invention> names) {
        if (names.isEmpty()) {
            return;
        }
        out.println("invented:");
        names.forEach(each -> out.println("  " + Printable.of(each.name()) + (each.exists() ? "  (exists)" : "")));
    }
}
