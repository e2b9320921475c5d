package io.seriatim.train.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.train.Model;
import io.seriatim.train.data.Field;
import io.seriatim.train.data.TableEncoding;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The saved form of each network of this package has a result whose name says what it is. */
class OutputNamesTest {
    private static final Field IMAGE = new Field("image", DType.FLOAT32, Shape.of(1, 28, 28));
    private static final Field CLASS = new Field("label", DType.INT64, Shape.of(1));

    @TempDir
    Path folder;

    private void assertSaved(String expected, Architecture architecture) throws IOException {
        Model model = architecture.build(architecture.recipe(), 10);
        assertEquals(List.of(expected), model.outputs(), architecture.name());
        assertTrue(model.main().global().var(expected) != null, "the program for training has the same name");
        try (TinyRun run = new TinyRun(model)) {
            InferenceModels.save(folder.resolve("model"), model.evaluation(), model.inputs(), model.outputs(),
                    run.executor().scope()::find);
            InferenceModel whole = InferenceModels.of(model.evaluation(), model.inputs(), model.outputs(),
                    run.executor().scope()::find);
            InferenceModels.save(folder.resolve("named.pdmodel"), whole);
            InferenceModels.save(folder.resolve("named.json"), whole);
        }
        for (String file : List.of("model.pdmodel", "named.pdmodel", "named.json")) {
            try (InferenceModel saved = InferenceModels.load(folder.resolve(file))) {
                assertEquals(List.of(expected), saved.fetches(), architecture.name() + " " + file);
            }
        }
    }

    @Test
    void saySuchAsLogits() throws IOException {
        assertSaved("logits", new LeNet(IMAGE, CLASS, 10));
        assertSaved("logits", new ResNet18(new Field("image", DType.FLOAT32, Shape.of(1, 32, 32)), CLASS, 3));
        assertSaved("logits", new Mlp(IMAGE, CLASS, 10));
        assertSaved("logits", new CharacterTransformer(5, 8, 16, 2, 1));
        assertSaved("prediction",
                new Mlp(IMAGE, new Field("height", DType.FLOAT32, Shape.of(2)), 2));
        assertSaved("probabilities", new TableMlp(
                new TableEncoding(List.of(new TableEncoding.NumberColumn("age", 30, 10, false)), "class",
                        List.of("no", "yes"), Set.of(""))));
    }

    /** A field of the data keeps its name, and the result keeps that of its variable. */
    @Test
    void giveWayToFields() throws IOException {
        Architecture network = new Mlp(new Field("logits", DType.FLOAT32, Shape.of(4)), CLASS, 3);
        Model model = network.build(network.recipe(), 10);
        assertEquals(List.of("logits"), model.inputs());
        assertTrue(model.outputs().getFirst().startsWith("linear_"), model.outputs().toString());
    }
}
