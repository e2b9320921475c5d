package io.seriatim.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.AdamW;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.spark.JobSecret.Trust;
import io.seriatim.tensor.DType;
import io.seriatim.train.Model;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Spark's tasks exchange, and how it is encrypted. */
class SparkExchangeTest {
    private static final int RANKS = 2;
    private static final int ROWS = 120;
    private static final int BATCH = 20;
    private static final int EPOCHS = 3;
    private static final long STEPS = (long) EPOCHS * (ROWS / BATCH);
    private static final String PASSWORD = "of the tests";
    private static SparkSession spark;

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() {
        spark = LocalSpark.session();
    }

    private static Dataset<Row> rows() {
        SplittableRandom random = new SplittableRandom(1);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            rows.add(RowFactory.create(new float[]{(float) random.nextDouble() + i % 3, (float) random.nextDouble()},
                    (long) i % 3));
        }
        return spark.createDataFrame(rows, new StructType()
                .add("x", DataTypes.createArrayType(DataTypes.FloatType)).add("y", DataTypes.LongType));
    }

    /** With 20 KiB of weights in one gradient: buckets of up to 16 KiB are not rounded. */
    private static Model model(boolean isNormalised) {
        Network network = Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT32, -1, 2);
            Value y = graph.data("y", DType.INT64, -1, 1);
            Value hidden = graph.linear(graph.linear(x, 64).tanh(), 80);
            Value logits = graph.linear((isNormalised ? graph.batchNorm(hidden) : hidden).relu(), 3);
            Value loss = graph.softmaxCrossEntropy(logits, y).mean();
            graph.minimize(loss, AdamW.of(0.01));
            return Outputs.of("loss", loss, "logits", logits);
        });
        return Model.of("exchanged", network).loss("loss").predicts("logits");
    }

    private static SparkTraining training(Exchange exchange, boolean isNormalised) {
        return SparkTraining.of(model(isNormalised), rows()).ranks(RANKS).batch(BATCH).epochs(EPOCHS).seed(7)
                .exchange(exchange);
    }

    private static Map<String, double[]> fit(SparkTraining training) throws IOException {
        try (SparkTraining.Result result = training.fit()) {
            assertEquals(STEPS, result.step());
            Map<String, double[]> values = new TreeMap<>();
            result.variables().forEach((name, tensor) -> values.put(name, tensor.toDoubleArray()));
            return values;
        }
    }

    private static void assertSame(Map<String, double[]> expected, Map<String, double[]> actual) {
        assertEquals(expected.keySet(), actual.keySet());
        expected.forEach((name, values) -> assertArrayEquals(values, actual.get(name), name));
    }

    private static double distance(Map<String, double[]> a, Map<String, double[]> b) {
        assertEquals(a.keySet(), b.keySet());
        double most = 0;
        for (Map.Entry<String, double[]> each : a.entrySet()) {
            double[] other = b.getOrDefault(each.getKey(), new double[0]);
            for (int i = 0; i < other.length; i++) {
                most = Math.max(most, Math.abs(other[i] - each.getValue()[i]));
            }
        }
        return most;
    }

    private static void assertSays(String part, Throwable failure) {
        assertTrue(String.valueOf(failure.getMessage()).contains(part), failure::toString);
    }

    /** The bytes of all variables in the newest checkpoint. */
    private static byte[] newest(Path checkpoints) throws IOException {
        try (Stream<Path> steps = Files.list(checkpoints)) {
            Path last = steps.filter(each -> each.getFileName().toString().matches("[0-9]+"))
                    .max(Comparator.comparingLong(each -> Long.parseLong(each.getFileName().toString())))
                    .orElseThrow();
            assertEquals(Long.toString(STEPS), last.getFileName().toString());
            return Files.readAllBytes(last.resolve("variables.pdiparams"));
        }
    }

    @Test
    void shardedStateChangesNothingWhateverFails() throws IOException {
        long seed = Long.getLong("seriatim.seed", new Random().nextLong());
        System.out.println("shardedStateChangesNothingWhateverFails: seed " + seed);
        Random random = new Random(seed);
        Path plain = folder.resolve("plain");
        Map<String, double[]> expected = fit(training(Exchange.PLAIN, false).checkpoints(plain.toString()));
        Exchange sharded = Exchange.PLAIN.sharded(true);
        // Without checkpoints, too, the result has the state of all ranks.
        assertSame(expected, fit(training(sharded, false)));
        for (int trial = 0; trial < (Boolean.getBoolean("seriatim.full") ? 10 : 1); trial++) {
            Path run = folder.resolve("run" + trial);
            int failing = random.nextInt(RANKS);
            // Behind the first checkpoint, so that the training goes on from one.
            long at = 4 + random.nextLong(STEPS - 4);
            String text = "rank " + failing + " after step " + at;
            SparkTraining training = training(sharded, false).checkpoints(run.toString()).checkpointEvery(3)
                    .probe((rank, attempt, step) -> {
                        if (attempt == 0 && rank == failing && step == at) {
                            throw new IllegalStateException("planted");
                        }
                        if (attempt == 1 && step <= 3) {
                            throw new IllegalStateException("began with step " + step);
                        }
                    });
            try (SparkTraining.Result result = training.fit()) {
                assertEquals(2, result.attempts(), text);
                Map<String, double[]> values = new TreeMap<>();
                result.variables().forEach((name, tensor) -> values.put(name, tensor.toDoubleArray()));
                assertSame(expected, values);
            }
            assertArrayEquals(newest(plain), newest(run), text);
        }
        // By hand, from the checkpoint of a training without shards.
        Path left = folder.resolve("left");
        try (SparkTraining.Result some = training(Exchange.PLAIN, false).checkpoints(left.toString()).steps(8).fit()) {
            assertEquals(8, some.step());
        }
        assertSame(expected, fit(training(sharded, false).checkpoints(left.toString()).resume()));
    }

    @Test
    void gradientsTravelAsBfloat16() throws IOException {
        Map<String, double[]> plain = fit(training(Exchange.PLAIN, false));
        Exchange rounded = Exchange.PLAIN.bfloat16(true);
        Map<String, double[]> expected = fit(training(rounded, false));
        double distance = distance(plain, expected);
        assertTrue(distance > 0 && distance < 0.1, "distance: " + distance);
        assertSame(expected, fit(training(rounded.sharded(true), false)));
    }

    @Test
    void batchNormalisationTakesTheRowsOfAllRanks() throws IOException {
        Map<String, double[]> one = fit(training(Exchange.PLAIN, true).ranks(1));
        Map<String, double[]> own = fit(training(Exchange.PLAIN, true));
        Exchange all = Exchange.PLAIN.syncBatchNorm(true);
        Map<String, double[]> synchronised = fit(training(all, true));
        // One rank takes the rows in another order; running statistics of equal rows hardly differ.
        assertTrue(distance(own, synchronised) > 0, "the statistics are those of each rank");
        assertEquals(one.keySet(), synchronised.keySet());
        assertSame(synchronised, fit(training(all.sharded(true), true).probe((rank, attempt, step) -> {
            if (attempt == 0 && rank == 1 && step == 5) {
                throw new IllegalStateException("planted");
            }
        })));
    }

    private Path keys(String name, String host) throws Exception {
        Path store = folder.resolve(name + ".p12");
        keytool("-genkeypair", "-alias", "rank", "-keyalg", "EC", "-dname", "CN=" + name, "-ext", "san=" + host,
                "-storetype", "PKCS12", "-keystore", store.toString(), "-storepass", PASSWORD, "-validity", "2");
        return store;
    }

    private void keytool(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool")
                .toString(), "-J-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(arguments));
        Path said = folder.resolve("keytool.log");
        int code = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start()
                .waitFor();
        assertEquals(0, code, Files.readString(said));
    }

    private Path pem(String name, String kind, byte[] content) throws IOException {
        return Files.writeString(folder.resolve(name), "-----BEGIN " + kind + "-----\n"
                + Base64.getMimeEncoder(64, new byte[]{'\n'}).encodeToString(content) + "\n-----END " + kind
                + "-----\n");
    }

    private TlsFiles pem(String name, Path store) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Path certificate = pem(name + ".pem", "CERTIFICATE", keys.getCertificate("rank").getEncoded());
        Path key = pem(name + ".key", "PRIVATE KEY", keys.getKey("rank", PASSWORD.toCharArray()).getEncoded());
        return new TlsFiles(certificate.toString(), key.toString(), certificate.toString());
    }

    @Test
    void ranksUseTheCertificatesOfTheirExecutors() throws Exception {
        Path store = keys("ranks", "ip:127.0.0.1,dns:localhost");
        TlsFiles files = pem("ranks", store);
        Map<String, double[]> expected = fit(training(Exchange.PLAIN, false));
        String key = String.valueOf(files.key());
        assertSame(expected, fit(training(Exchange.PLAIN.sharded(true), false)
                .tls(files.certificate(), key, files.trusted())));
        // As spark.files does.
        spark.sparkContext().addFile(files.certificate());
        spark.sparkContext().addFile(key);
        assertSame(expected, fit(training(Exchange.PLAIN, false).tls("ranks.pem", "ranks.key", "ranks.pem")));
        TlsFiles elsewhere = pem("elsewhere", keys("elsewhere", "dns:elsewhere.example"));
        IllegalStateException failure = assertThrows(IllegalStateException.class,
                () -> training(Exchange.PLAIN, false).attempts(1)
                        .tls(elsewhere.certificate(), String.valueOf(elsewhere.key()), elsewhere.trusted()).fit());
        assertSays("is not for the host", failure);
        TlsFiles missing = new TlsFiles(folder.resolve("none.pem").toString(), key, files.trusted());
        assertSays("none.pem", assertThrows(IOException.class, missing::read));
        TlsFiles stores = new TlsFiles(store.toString(), null, store.toString());
        assertSays("spark.executorEnv.SERIATIM_TLS_PASSWORD",
                assertThrows(IllegalArgumentException.class, () -> stores.read(null)));
        new TlsFiles(store.toString(), null, trust(Path.of(files.certificate())).toString()).read(PASSWORD);
    }

    private Path trust(Path certificate) throws Exception {
        Path store = folder.resolve("trust.p12");
        keytool("-importcert", "-alias", "rank", "-file", certificate.toString(), "-storetype", "PKCS12", "-keystore",
                store.toString(), "-storepass", PASSWORD, "-noprompt");
        return store;
    }

    private interface Action {
        void run() throws Exception;
    }

    /** Runs with settings of the session, which all tests share. */
    private static void with(Map<String, String> settings, Action action) throws Exception {
        SparkConf all = spark.sparkContext().conf();
        settings.forEach(all::set);
        try {
            action.run();
        } finally {
            settings.keySet().forEach(all::remove);
        }
    }

    /** Both ranks have the same mistake, and the training says it once. */
    private static void assertFails(String part, SparkTraining training) {
        IllegalStateException failure = assertThrows(IllegalStateException.class, training.attempts(1)::fit);
        assertSays(part, failure);
        assertSays("has failed 1 times", failure);
    }

    @Test
    void ranksUseStoresOfKeys() throws Exception {
        String keys = keys("ranks", "ip:127.0.0.1,dns:localhost").toString();
        String trusted = trust(Path.of(pem("ranks", Path.of(keys)).certificate())).toString();
        Map<String, double[]> expected = fit(training(Exchange.PLAIN, false));
        with(Map.of(TlsFiles.PASSWORD_SETTING, PASSWORD), () -> {
            assertSame(expected, fit(training(Exchange.PLAIN, false).tls(keys, trusted)));
            String none = folder.resolve("none.p12").toString();
            assertFails(none, training(Exchange.PLAIN, false).tls(none, trusted));
            assertFails(none, training(Exchange.PLAIN, false).tls(keys, none));
        });
        with(Map.of(TlsFiles.PASSWORD_SETTING, "of others"),
                () -> assertFails("the password of this store is another one",
                        training(Exchange.PLAIN, false).tls(keys, trusted)));
        assertFails(TlsFiles.PASSWORD_SETTING, training(Exchange.PLAIN, false).tls(keys, trusted));
    }

    @Test
    void ranksUseTheFilesOfSparksSettings() throws Exception {
        Path store = keys("ranks", "ip:127.0.0.1,dns:localhost");
        TlsFiles files = pem("ranks", store);
        String trusted = trust(Path.of(files.certificate())).toString();
        Map<String, double[]> expected = fit(training(Exchange.PLAIN, false));
        with(Map.of("spark.seriatim.tls.certificate", files.certificate(), "spark.seriatim.tls.key",
                String.valueOf(files.key()), "spark.seriatim.tls.trust", files.trusted()),
                () -> assertSame(expected, fit(training(Exchange.PLAIN, false))));
        Map<String, String> stores = Map.of("spark.seriatim.tls.certificate", store.toString(),
                "spark.seriatim.tls.trust", trusted, TlsFiles.PASSWORD_SETTING, PASSWORD);
        with(stores, () -> assertSame(expected, fit(training(Exchange.PLAIN, false))));
        Map<String, String> wrong = new TreeMap<>(stores);
        wrong.put(TlsFiles.PASSWORD_SETTING, "of others");
        with(wrong, () -> assertFails("the password of this store is another one",
                training(Exchange.PLAIN, false)));
        wrong.putAll(stores);
        String none = folder.resolve("none.p12").toString();
        wrong.put("spark.seriatim.tls.certificate", none);
        with(wrong, () -> assertFails(none, training(Exchange.PLAIN, false)));
    }

    @Test
    void theVariableOfTheEnvironmentComesBeforeTheSetting() {
        SparkConf settings = new SparkConf(false);
        assertEquals(null, TlsFiles.password(null, settings));
        settings.set(TlsFiles.PASSWORD_SETTING, "set");
        assertEquals("set", TlsFiles.password(null, settings));
        assertEquals("variable", TlsFiles.password("variable", settings));
    }

    @Test
    void sparksSettingsNameTheFiles() {
        assertEquals(null, TlsFiles.configured(new SparkConf(false)));
        SparkConf settings = new SparkConf(false).set("spark.seriatim.tls.certificate", "/a.pem")
                .set("spark.seriatim.tls.trust", "t.pem");
        assertEquals(new TlsFiles("/a.pem", null, "t.pem"), TlsFiles.configured(settings));
        assertEquals(new TlsFiles("/a.pem", "/a.key", "t.pem"),
                TlsFiles.configured(settings.set("spark.seriatim.tls.key", "/a.key")));
        assertSays("spark.seriatim.tls.trust", assertThrows(IllegalArgumentException.class,
                () -> TlsFiles.configured(new SparkConf(false).set("spark.seriatim.tls.key", "/a.key"))));
    }

    @Test
    void theSecretTravelsOnlyWhereNobodyReadsIt() throws IOException {
        JobSecret derived = JobSecret.of("job", new Trust(false, true, false), true);
        String ofSpark = "the secret of Spark";
        byte[] secret = derived.derived(ofSpark);
        assertArrayEquals(secret, JobSecret.of("job", new Trust(false, true, true), false).derived(ofSpark));
        assertFalse(Arrays.equals(secret, derived.derived("another")));
        assertFalse(Arrays.equals(secret, new JobSecret("other", null).derived(ofSpark)));
        assertEquals(32, secret.length);
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(sent)) {
            out.writeObject(derived);
        }
        assertFalse(sent.toString(StandardCharsets.ISO_8859_1).contains(ofSpark));
        assertSays("spark.authenticate=true", assertThrows(IllegalStateException.class,
                () -> JobSecret.of("job", new Trust(false, false, false), true)));
        for (Trust trust : List.of(new Trust(true, false, false), new Trust(false, false, true))) {
            JobSecret drawn = JobSecret.of("job", trust, true);
            assertEquals(32, drawn.bytes().length);
            assertFalse(drawn.toString().contains(String.valueOf(drawn.drawn())));
        }
    }
}
