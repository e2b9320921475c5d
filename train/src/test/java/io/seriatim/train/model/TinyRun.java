package io.seriatim.train.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;

/** A model with its own executor, trained step by step. */
final class TinyRun implements AutoCloseable {
    private final Model model;
    private final Executor executor = Executor.on(Place.CPU);
    private final Plan step;
    private final Plan evaluation;
    private long steps;

    TinyRun(Model model) {
        this.model = model;
        executor.run(model.startup());
        step = executor.compile(model.main(), new Feeds(model.feeds()), Executor.fetches(model.loss()));
        evaluation = executor.compile(model.evaluation(), new Feeds(model.feeds()), Executor.fetches(model.loss()));
    }

    Executor executor() {
        return executor;
    }

    double train(Tensor... batch) {
        for (Map.Entry<String, Schedule> each : model.schedules().entrySet()) {
            VarType.TensorType type = model.main().global().get(each.getKey()).tensor();
            executor.scope().set(each.getKey(),
                    Tensor.of(type.dtype(), new double[]{each.getValue().rate(steps)}, type.shape()));
        }
        steps++;
        return step.run(batch).scalar(model.loss());
    }

    /** The loss of the last of several steps on one batch. */
    double train(int count, Tensor... batch) {
        return LongStream.range(0, count).mapToDouble(_ -> train(batch)).reduce(Double.NaN, (_, last) -> last);
    }

    double evaluate(Tensor... batch) {
        return evaluation.run(batch).scalar(model.loss());
    }

    double metric(String name, Tensor... batch) {
        String variable = Objects.requireNonNull(model.metrics().get(name), name);
        Results results = executor.compile(model.evaluation(), new Feeds(model.feeds()), Executor.fetches(variable))
                .run(batch);
        return results.scalar(variable);
    }

    Tensor output(Tensor... inputs) {
        String output = model.outputs().getFirst();
        Program inference = model.evaluation().prune(model.inputs(), model.outputs());
        return executor.compile(inference, new Feeds(model.inputs()), new Fetches(model.outputs())).run(inputs)
                .get(output);
    }

    /** Saves the model, loads it into another executor, and compares the results of both. */
    void checkSaved(Path folder, Tensor... inputs) throws IOException {
        Path prefix = folder.resolve("model");
        InferenceModels.save(prefix, model.evaluation(), model.inputs(), model.outputs(), executor.scope()::find);
        try (InferenceModels.InferenceModel saved = InferenceModels.load(prefix);
                Executor other = Executor.on(Place.CPU)) {
            assertEquals(model.inputs(), saved.feeds());
            assertEquals(model.outputs(), saved.fetches());
            saved.parameters().forEach(other.scope()::set);
            Tensor loaded = other
                    .run(saved.program(), Map.of(saved.feeds().getFirst(), inputs[0]), new Fetches(saved.fetches()))
                    .get(saved.fetches().getFirst());
            Tensor own = output(inputs);
            assertEquals(own.shape(), loaded.shape());
            assertArrayEquals(own.toFloatArray(), loaded.toFloatArray());
        }
    }

    /** The saved program has no optimizer and no backward operations, and all operations are in inference mode. */
    static void checkEvaluation(Model model) {
        for (OpDesc op : model.evaluation().global().ops()) {
            int role = op.attribute("op_role") instanceof Attribute.Int(int number) ? number : 0;
            assertEquals(0, role & 3, op + " belongs to training");
            boolean switched = op.type().equals("dropout") || op.type().equals("batch_norm");
            assertTrue(!switched || (op.attribute("is_test") instanceof Attribute.Bool(boolean test) && test),
                    op + " is as in training");
        }
        assertTrue(model.evaluation().global().ops().size() < model.main().global().ops().size());
    }

    @Override
    public void close() {
        executor.close();
    }
}
