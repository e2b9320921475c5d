package io.seriatim.cli.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.CommandRun;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Trainings of several processes. */
@DisabledOnOs(OS.WINDOWS)
@Timeout(120)
class TrainRanksTest {
    private static final int ENDLESS = 1_000_000;
    private static final long END_SECONDS = 60;

    @TempDir
    private Path temp = Path.of("");

    private List<Object> training(RunFolder run, Object... more) throws IOException {
        List<Object> args = new ArrayList<>(TinyData.program(temp, TinyData.line(-1), 40));
        args.addAll(List.of("--batch", 4, "--threads", 1, "--out", run.path()));
        args.addAll(List.of(more));
        return args;
    }

    private static List<ProcessHandle> children(Command command) {
        return ProcessHandle.of(command.pid()).orElseThrow().children().toList();
    }

    private static void assertEnded(List<ProcessHandle> processes) throws Exception {
        for (ProcessHandle each : processes) {
            each.onExit().get(END_SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void twoProcessesWriteTheFilesOfOneAndGoOnAsAnotherNumber() throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        RunFolder one = new RunFolder(temp.resolve("one"));
        try (Command command = Command.start(temp, "",
                training(run, "--epochs", 2, "--steps", 12, "--ranks", 2, "--place", "cpu,cpu", "--wire", "bf16",
                        "--sync-batch-norm", "--shard-optimizer").toArray())) {
            assertEquals(0, command.end(), command::err);
            assertTrue(command.out().contains("ranks     2 processes, each with 2 examples of a batch"), command::out);
            assertEquals("", command.err());
        }
        List<Object> alone = new ArrayList<>(List.of("train"));
        alone.addAll(training(one, "--epochs", 2, "--steps", 12));
        assertEquals(0, CommandRun.of(alone.toArray()).code());
        assertEquals(names(one), names(run));
        assertEquals(one.checkpoints(), run.checkpoints());
        String settings = Files.readString(run.path().resolve(Settings.FILE));
        assertTrue(settings.contains("\nranks=2\n") && settings.contains("\nwire=bf16\n")
                && settings.contains("\nsync-batch-norm=true\n")
                && settings.contains("\nshard-optimizer=true\n"), settings);
        Files.writeString(run.path().resolve(Settings.FILE), settings.replace("steps=12", "steps=16"));
        CommandRun resumed = CommandRun.of("train", "--resume", run.path(), "--ranks", 1);
        assertEquals(0, resumed.code(), resumed::err);
        assertTrue(resumed.out().contains("ranks     1 instead of 2: each batch is shared otherwise"), resumed::out);
        assertEquals(16, run.checkpoints().getLast());
    }

    private static List<String> names(RunFolder run) throws IOException {
        return run.files().stream().map(Object::toString).filter(name -> !name.contains("tfevents")).sorted().toList();
    }

    private void keytool(Object... arguments) throws Exception {
        List<String> line = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool")
                .toString()));
        for (Object each : arguments) {
            line.add(each.toString());
        }
        line.addAll(List.of("-storetype", "PKCS12", "-storepass", "password"));
        Process process = new ProcessBuilder(line).redirectErrorStream(true)
                .redirectOutput(temp.resolve("keytool.log").toFile()).start();
        assertEquals(0, process.waitFor(), () -> line.toString());
    }

    /** The commands of {@code Tls}. */
    private List<Object> certificates() throws Exception {
        Path keys = temp.resolve("keys.p12");
        Path trust = temp.resolve("trust.p12");
        Path certificate = temp.resolve("ranks.pem");
        keytool("-genkeypair", "-alias", "rank", "-keyalg", "EC", "-dname", "CN=ranks", "-ext",
                "san=ip:127.0.0.1,dns:localhost", "-keystore", keys, "-validity", 365);
        keytool("-exportcert", "-alias", "rank", "-keystore", keys, "-rfc", "-file", certificate);
        keytool("-importcert", "-alias", "rank", "-file", certificate, "-keystore", trust, "-noprompt");
        return List.of("--tls-certificate", keys, "--tls-trust", trust);
    }

    /** As on several machines. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @EnabledIfSystemProperty(named = "seriatim.full", matches = "true")
    void ranksThatAreStartedOneByOneMeetAtAnAddress(boolean isEncrypted) throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        String secret = "export " + TrainingRanks.SECRET + "=0123456789abcdef " + TrainingRanks.TLS_PASSWORD
                + "=password";
        List<Object> tls = isEncrypted ? certificates() : List.of();
        List<Command> all = new ArrayList<>();
        try {
            for (int rank = 0; rank < 2; rank++) {
                Path folder = Files.createDirectory(temp.resolve("rank" + rank));
                List<Object> line = training(run, "--steps", 6, "--ranks", 2, "--rank", rank, "--rendezvous",
                        "127.0.0.1:" + port);
                line.addAll(tls);
                all.add(Command.start(folder, secret, line.toArray()));
            }
            for (Command each : all) {
                assertEquals(0, each.end(), each::err);
                assertEquals("", each.err());
            }
            assertEquals("", all.getLast().out());
        } finally {
            all.forEach(Command::close);
        }
        assertEquals(List.of(6L), run.checkpoints());
    }

    /** Starts a training on two ranks that does not end by itself. */
    private Command endless(RunFolder run) throws IOException {
        return Command.start(temp, "",
                training(run, "--epochs", ENDLESS, "--checkpoint-every", 5, "--ranks", 2).toArray());
    }

    @Test
    void aKilledRankEndsAll() throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        try (Command command = endless(run)) {
            command.await(line -> line.contains("  checkpoint "));
            List<ProcessHandle> children = children(command);
            assertEquals(1, children.size());
            assertTrue(children.getLast().destroyForcibly());
            assertEquals(1, command.end(), command::err);
            assertEnded(children);
            assertTrue(command.err().contains("rank "), command::err);
        }
        run.assertWhole();
    }

    @Test
    @EnabledIfSystemProperty(named = "seriatim.full", matches = "true")
    void aKilledLauncherEndsAll() throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        try (Command command = endless(run)) {
            command.await(line -> line.contains("  checkpoint "));
            List<ProcessHandle> children = children(command);
            command.signal("KILL");
            assertNotEquals(0, command.end());
            assertEnded(children);
        }
    }

    @Test
    void aSignalToTheLauncherStopsAllAfterTheStepAndTheyGoOn() throws Exception {
        RunFolder run = new RunFolder(temp.resolve("run"));
        try (Command command = endless(run)) {
            command.await(line -> line.contains("  checkpoint "));
            List<ProcessHandle> children = children(command);
            command.signal("INT");
            assertEquals(130, command.end(), command::err);
            assertEquals("\nseriatim: stopping after this step; press Ctrl-C again to stop at once\n", command.err());
            assertEnded(children);
        }
        run.assertWhole();
        long stopped = run.checkpoints().getLast();
        String settings = Files.readString(run.path().resolve(Settings.FILE));
        Files.writeString(run.path().resolve(Settings.FILE), settings.replace("steps=0", "steps=" + (stopped + 3)));
        try (Command command = Command.start(temp, "", "--resume", run.path())) {
            assertEquals(0, command.end(), command::err);
            assertFalse(command.out().contains("instead of"), command::out);
        }
        assertEquals(stopped + 3, run.checkpoints().getLast());
    }

    @Test
    void wrongOptionsAreRefusedBeforeARankIsStarted() throws IOException {
        RunFolder run = new RunFolder(temp.resolve("run"));
        assertRefused(run, "--batch that is a multiple of 3", "--ranks", 3);
        assertRefused(run, "--wire must be f32 or bf16", "--ranks", 2, "--wire", "f16");
        for (List<Object> some : List.of(List.<Object>of("--tls-certificate", "c.p12"),
                List.<Object>of("--tls-key", "k.pem"), List.<Object>of("--tls-trust", "t.p12"),
                List.<Object>of("--tls-certificate", "c.p12", "--tls-trust", "t.p12"),
                List.<Object>of("--tls-certificate", "c.p12", "--tls-trust", "t.p12", "--rank", 1, "--rendezvous",
                        temp))) {
            List<Object> options = new ArrayList<>(some);
            options.addAll(List.of("--ranks", 2));
            assertRefused(run, "--tls-certificate, --tls-trust, --rendezvous HOST:PORT", options.toArray());
        }
        assertRefused(run, "belong together", "--rank", 1);
        assertRefused(run, "belong together", "--ranks", 2, "--rendezvous", "localhost:4000");
        assertRefused(run, "--rank must be 0 to 1", "--ranks", 2, "--rank", 2, "--rendezvous", "localhost:4000");
        assertRefused(run, TrainingRanks.SECRET, "--ranks", 2, "--rank", 1, "--rendezvous", "localhost:4000");
        assertFalse(Files.exists(run.path()));
    }

    private void assertRefused(RunFolder run, String part, Object... options) throws IOException {
        List<Object> args = new ArrayList<>(List.of("train"));
        args.addAll(training(run, options));
        CommandRun refused = CommandRun.of(args.toArray());
        assertEquals(2, refused.code(), refused::err);
        assertTrue(refused.err().contains(part), refused::err);
    }
}
