package io.seriatim.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Predictor;
import io.seriatim.executor.Results;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SeriatimTransformerTest {
    private static final int ROWS = 700;
    private static final int PARTITIONS = 3;
    private static final int BATCH = 64;
    private static SparkSession spark;

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() {
        spark = LocalSpark.session();
    }

    /** What a test's network computes. */
    private interface Body {
        Outputs build(Graph graph);
    }

    private Path save(String file, Body body) throws IOException {
        Network network = Network.define(graph -> body.build(graph));
        Path saved = folder.resolve(file);
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup().copy().randomSeed(5));
            InferenceModels.save(saved, InferenceModels.of(network, executor.scope()::find));
        }
        return saved;
    }

    private Path classifier(String file) throws IOException {
        return save(file, graph -> {
            Value x = graph.data("x", DType.FLOAT32, -1, 3);
            Value weight = graph.data("weight", DType.FLOAT32, -1, 1);
            Value logits = graph.linear(graph.linear(x, 16).tanh(), 4);
            return Outputs.of("probabilities", logits.softmax(1), "scaled", logits.sumKeeping(1).times(weight));
        });
    }

    private static Dataset<Row> frame(StructType schema, List<Row> rows) {
        return spark.createDataFrame(rows, schema);
    }

    private static float[] point(long id) {
        return new float[]{(float) (id * 0.01d - 2), (float) ((id * 37 % 101) * 0.02d), id % 7};
    }

    /** Row {@code id} of a partition of consecutive ones. */
    private static Dataset<Row> points() {
        return spark.range(0, ROWS, 1, PARTITIONS).selectExpr("id",
                "array(float(id * 0.01d - 2), float((id * 37 % 101) * 0.02d), float(id % 7)) as x",
                "int(id % 5) as weight");
    }

    /** The model's own results, for the batches that partitions of consecutive rows have. */
    private static List<float[]> expected(Path model, String output) throws IOException {
        List<float[]> all = new ArrayList<>();
        try (Predictor predictor = Predictor.builder(model).threads(1).build()) {
            for (int part = 0; part < PARTITIONS; part++) {
                int end = ROWS * (part + 1) / PARTITIONS;
                for (int from = ROWS * part / PARTITIONS; from < end; from += BATCH) {
                    int rows = Math.min(BATCH, end - from);
                    float[] x = new float[3 * rows];
                    float[] weight = new float[rows];
                    for (int i = 0; i < rows; i++) {
                        System.arraycopy(point(from + i), 0, x, 3 * i, 3);
                        weight[i] = (from + i) % 5;
                    }
                    Results results = predictor.run(Map.of("x", Tensor.of(x, rows, 3), "weight",
                            Tensor.of(weight, rows, 1)));
                    float[] values = results.get(output).toFloatArray();
                    int each = values.length / rows;
                    for (int i = 0; i < rows; i++) {
                        all.add(Arrays.copyOfRange(values, i * each, (i + 1) * each));
                    }
                }
            }
        }
        return all;
    }

    private static SeriatimTransformer transformer(Path model) {
        return new SeriatimTransformer().setModel(model.toString()).setBatchSize(BATCH);
    }

    private static float[] floats(Row row, String column) {
        List<Float> cell = row.getList(row.fieldIndex(column));
        float[] values = new float[cell.size()];
        IntStream.range(0, values.length).forEach(i -> values[i] = cell.get(i));
        return values;
    }

    @ParameterizedTest
    @ValueSource(strings = {"model.pdmodel", "model.json", "model.onnx"})
    void rowsHaveTheResultsOfThePlanToTheBit(String file) throws IOException {
        Path model = classifier(file);
        try (Predictor predictor = Predictor.load(model)) {
            String[] fetches = predictor.outputs().stream().map(Predictor.Port::name).toArray(String[]::new);
            Dataset<Row> scored = transformer(model).setOutputCols("p", "s").transform(points());
            assertEquals(List.of("id", "x", "weight", "p", "s"), List.of(scored.columns()));
            assertEquals(DataTypes.FloatType, scored.schema().apply("s").dataType());
            List<Row> rows = scored.collectAsList();
            List<float[]> p = expected(model, fetches[0]);
            List<float[]> s = expected(model, fetches[1]);
            assertEquals(ROWS, rows.size());
            for (int i = 0; i < ROWS; i++) {
                assertEquals(i, rows.get(i).getLong(0));
                assertArrayEquals(p.get(i), floats(rows.get(i), "p"), "row " + i);
                assertEquals(s.get(i)[0], rows.get(i).getFloat(4), "row " + i);
            }
        }
    }

    @Test
    void aPipelineIsSavedWithItsModel() throws IOException {
        Path model = classifier("model.pdmodel");
        SeriatimTransformer transformer = transformer(model).setOutputCols("p", "s").setOutputType("vector");
        PipelineModel pipeline = new Pipeline().setStages(new PipelineStage[]{transformer}).fit(points());
        List<Row> expected = pipeline.transform(points()).collectAsList();
        assertTrue(expected.getFirst().get(3) instanceof Vector, expected.getFirst()::toString);
        String saved = folder.resolve("pipeline").toString();
        pipeline.save(saved);
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(each -> each.getFileName().toString().startsWith("model.")).toList()) {
                Files.delete(file);
            }
        }
        PipelineModel loaded = PipelineModel.load(saved);
        assertEquals(expected, loaded.transform(points()).collectAsList());
        SeriatimTransformer stage = (SeriatimTransformer) loaded.stages()[0];
        assertEquals(transformer.uid(), stage.uid());
        assertEquals(BATCH, stage.getOrDefault(stage.batchSize()));
        // Into the folder where its model is.
        stage.write().overwrite().save(folder.resolve("alone").toString());
        SeriatimTransformer alone = SeriatimTransformer.load(folder.resolve("alone").toString());
        alone.write().overwrite().save(folder.resolve("alone").toString());
        assertEquals(expected, SeriatimTransformer.load(folder.resolve("alone").toString()).transform(points())
                .collectAsList());
    }

    @Test
    void aCopyHasItsOwnParams() throws IOException {
        SeriatimTransformer first = transformer(classifier("model.pdmodel")).setOutputCols("p", "s");
        SeriatimTransformer copy = first.copy(new ParamMap().put(first.batchSize(), 7));
        assertEquals(7, copy.getOrDefault(copy.batchSize()));
        assertEquals(BATCH, first.getOrDefault(first.batchSize()));
        assertEquals(ROWS, copy.transform(points()).count());
    }

    @Test
    void allKindsOfCellsAreNumbers() throws IOException {
        Path model = save("sum.pdmodel", graph -> Outputs.of("total", graph.data("x", DType.FLOAT32, -1, 2, 2)
                .sum(1, 2)));
        DataType array = DataTypes.createArrayType(DataTypes.LongType);
        record Kind(DataType type, Object cell) {
        }
        List<Kind> kinds = List.of(new Kind(array, List.of(1L, 2L, 3L, 4L)),
                new Kind(DataTypes.createArrayType(array), List.of(List.of(1L, 2L), List.of(3L, 4L))),
                new Kind(SQLDataTypes.VectorType(), Vectors.dense(new double[]{1, 2, 3, 4})),
                new Kind(SQLDataTypes.VectorType(), Vectors.sparse(4, new int[]{1, 3}, new double[]{4, 6})),
                new Kind(DataTypes.BinaryType, new byte[]{5, 5, 0, 0}));
        for (Kind kind : kinds) {
            List<Row> scored = transformer(model).transform(frame(new StructType().add("x", kind.type()),
                    List.of(RowFactory.create(kind.cell())))).collectAsList();
            assertEquals(10f, scored.getFirst().getFloat(1), kind::toString);
        }
    }

    @Test
    void otherColumnsAreKeptWhateverTheirTypes() throws IOException {
        Path model = save("sum.pdmodel", graph -> Outputs.of("total", graph.data("x", DType.FLOAT32, -1, 3).sum(1)));
        List<String> kinds = List.of("array(float(id), 1f, 2f)", "array(id, 1L, 2L)", "array(double(id), 1d, 2d)",
                "array(decimal(id), decimal(1), decimal(2))", "array(smallint(id), 1S, 2S)",
                "array(tinyint(id), 1Y, 2Y)", "array(array(id, 1), array(2))",
                "array(int(id), 1, if(id < 0, null, 2))", "array(float(id), 1f, if(id < 0, null, 2f))");
        List<String> columns = new ArrayList<>(List.of("string(id) as text",
                "if(id % 3 = 0, null, date_add(date'2026-01-01', int(id))) as day", "id / 7bd as decimal",
                "map(id, array(string(id))) as map", "struct(id, array(if(id % 2 = 0, null, id)) as inner) as struct",
                "if(id % 5 = 0, null, cast(string(id) as binary)) as bytes", "timestamp_seconds(id) as time"));
        kinds.forEach(kind -> columns.add(kind + " as x" + (columns.size() - 7)));
        Dataset<Row> rows = spark.range(0, 100, 1, 2).selectExpr(columns.toArray(String[]::new));
        for (Dataset<Row> source : List.of(rows, rows.cache())) {
            Dataset<Row> scored = source;
            StructType schema = source.schema();
            for (int i = 0; i < kinds.size(); i++) {
                scored = transformer(model).setInputCols("x" + i).setOutputCols("y" + i).transform(scored);
                schema = schema.add("y" + i, DataTypes.FloatType, false);
            }
            assertEquals(schema, scored.schema());
            assertEquals(rows.collectAsList().stream().map(SeriatimTransformerTest::text).toList(),
                    scored.selectExpr(rows.columns()).collectAsList().stream()
                            .map(SeriatimTransformerTest::text).toList());
            for (Row row : scored.collectAsList()) {
                for (int i = 0; i < kinds.size(); i++) {
                    assertEquals(Integer.parseInt(row.getString(0)) + 3f, row.<Float>getAs("y" + i), kinds.get(i));
                }
            }
            assertEquals(1, scored.filter("text = '17' and y8 = 20").select("day").count());
            assertEquals(100, scored.as("l").join(scored.as("r"), "text").filter("l.y3 = r.y0").count());
        }
        rows.unpersist();
        Dataset<Row> withNull = spark.range(0, 9, 1, 1).selectExpr("array(1f, if(id = 7, null, 2f), 3f) as x");
        assertFails("Column 'x' has a cell without a value", () -> transformer(model).transform(withNull)
                .collectAsList());
    }

    private static String text(Row row) {
        return IntStream.range(0, row.length())
                .mapToObj(i -> row.get(i) instanceof byte[] bytes ? Arrays.toString(bytes) : "" + row.get(i)).toList()
                .toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"bool", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"})
    void resultsHaveTheElementsOfTheModel(String type) throws IOException {
        DType cast = DType.valueOf(type.toUpperCase(Locale.ROOT));
        Path model = save("cast.pdmodel", graph -> Outputs.of("y", graph.data("x", DType.FLOAT32, -1, 2).cast(cast)));
        Dataset<Row> rows = spark.range(0, 70, 1, 1).selectExpr("array(float(id), 0f) as x");
        for (Row row : transformer(model).setOutputCols("y").transform(rows).collectAsList()) {
            List<Float> x = row.getList(0);
            List<Object> y = row.getList(1);
            for (int i = 0; i < 2; i++) {
                double value = y.get(i) instanceof Boolean is ? is ? 1 : 0 : ((Number) y.get(i)).doubleValue();
                assertEquals(cast == DType.BOOL ? Math.min(1, x.get(i)) : x.get(i), value, row::toString);
            }
        }
    }

    @Test
    void rowsOfDifferentLengthsAreInDifferentBatches() throws IOException {
        Path model = save("sum.pdmodel", graph -> Outputs.of("total", graph.data("x", DType.FLOAT32, -1, -1)
                .sum(1)));
        List<Row> rows = new ArrayList<>();
        for (int length : new int[]{2, 2, 5, 1, 1, 1, 2}) {
            rows.add(RowFactory.create(new double[length]));
            Arrays.fill((double[]) rows.getLast().get(0), 1);
        }
        StructType schema = new StructType().add("x", DataTypes.createArrayType(DataTypes.DoubleType));
        List<Float> totals = transformer(model).transform(frame(schema, rows).coalesce(1)).collectAsList().stream()
                .map(row -> row.<Float>getAs("total")).toList();
        assertEquals(List.of(2f, 2f, 5f, 1f, 1f, 1f, 2f), totals);
    }

    @Test
    void aModelOfAFixedNumberOfRowsIsFilledUp() throws IOException {
        Path model = save("twice.pdmodel", graph -> Outputs.of("y", graph.data("x", DType.INT64, 4, 1).times(2)));
        List<Row> scored = transformer(model).transform(spark.range(0, 11, 1, 2).selectExpr("id as x"))
                .collectAsList();
        assertEquals(IntStream.range(0, 11).mapToObj(i -> 2L * i).toList(),
                scored.stream().map(row -> row.getLong(1)).toList());
    }

    @Test
    void tasksOfAProcessShareOneModel() throws IOException {
        for (int i = 0; i < 6; i++) {
            Path model = save("m" + i + ".pdmodel", graph -> Outputs.of("y", graph.data("x", DType.FLOAT32, -1)
                    .times(2)));
            Dataset<Row> rows = spark.range(0, 100, 1, 10).selectExpr("float(id) as x");
            int before = SharedModel.loaded();
            assertEquals(100, transformer(model).transform(rows).collectAsList().size());
            assertEquals(Math.min(4, before + 1), SharedModel.loaded());
            assertEquals(3, transformer(model).transform(rows).limit(3).collectAsList().size());
        }
    }

    private static void assertFails(String part, Executable call) {
        Throwable error = assertThrows(Exception.class, call);
        StringBuilder all = new StringBuilder();
        for (Throwable each = error; each != null; each = each.getCause()) {
            all.append(each.getMessage()).append('\n');
        }
        assertTrue(all.toString().contains(part), all::toString);
    }

    @Test
    void errorsNameTheColumn() throws IOException {
        Path model = classifier("model.pdmodel");
        assertFails("has no model", () -> new SeriatimTransformer().transform(points()));
        assertFails("There is no model", () -> transformer(folder.resolve("none.onnx")).transform(points()));
        assertFails("no column 'features' for input 'x'",
                () -> transformer(model).setInputCols("features", "weight").transform(points()));
        assertFails("inputCols names [x]", () -> transformer(model).setInputCols("x").transform(points()));
        assertFails("There is a column 'x' already",
                () -> transformer(model).setOutputCols("x", "y").transform(points()));
        assertFails("A cell of column 'id' has 1 numbers",
                () -> transformer(model).setInputCols("id", "weight").transform(points()).count());
        assertFails("Column 'weight' has a cell without a value", () -> transformer(model)
                .transform(points().selectExpr("x", "if(id = 9, null, weight) as weight")).collectAsList());
        assertFails("Column 'weight' has a java.lang.String", () -> transformer(model)
                .transform(points().selectExpr("x", "string(weight) as weight")).collectAsList());
        Path whole = save("whole.pdmodel", graph -> Outputs.of("y", graph.data("x", DType.INT32, -1).times(2)));
        assertFails("whole numbers of type int32, but has 0.5",
                () -> transformer(whole).transform(spark.range(1).selectExpr("0.5d as x")).collectAsList());
        assertFails("numbers of type int32, but has 4000000000",
                () -> transformer(whole).transform(spark.range(1).selectExpr("4000000000 as x")).collectAsList());
        assertThrows(IllegalArgumentException.class, () -> transformer(model).setBatchSize(0));
        assertThrows(IllegalArgumentException.class, () -> transformer(model).setOutputType("matrix"));
    }

    @Test
    void filesOfAModelHaveItsName() {
        List<String> all = Stream.of("a.pdmodel", "a.pdiparams", "a.onnx_data", "a-0000.params", "ab.pdiparams", "b",
                "a").sorted(Comparator.naturalOrder()).toList();
        assertEquals(List.of("a-0000.params", "a.onnx_data", "a.pdiparams", "a.pdmodel"),
                all.stream().filter(file -> ModelFiles.belongs(file, "a-symbol.json")).toList());
        assertEquals(List.of("a", "a-0000.params", "a.onnx_data", "a.pdiparams", "a.pdmodel"),
                all.stream().filter(file -> ModelFiles.belongs(file, "a")).toList());
    }
}
