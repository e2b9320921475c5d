package io.seriatim.cli.demo;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import java.util.List;
import java.util.Map;

/**
 * The same program on the engine: the same loop, whose steps are pushed with the variables that they read and mutate.
 * The steps of different groups run at the same time; the three shared variables keep appending, listing and merging in
 * the order of the loop.
 */
final class EngineProgram {
    /** Values that the steps of one group pass on. */
    private static final class Work {
        List<byte[]> files = List.of();
        String hash = "";
        byte[] packed = {};
        Map<String, Integer> mentions = Map.of();
    }

    private EngineProgram() {
    }

    static Result run(Engine engine, List<Group> groups) throws InterruptedException {
        Result result = new Result();
        Var archive = engine.newVar("archive");
        Var hashes = engine.newVar("hashes");
        Var index = engine.newVar("index");
        for (Group group : groups) {
            Work work = new Work();
            Var files = engine.newVar("files");
            Var hash = engine.newVar("hash");
            Var packed = engine.newVar("packed");
            Var mentions = engine.newVar("mentions");
            engine.op("read").mutates(files).push(() -> work.files = Steps.read(group));
            engine.op("hash").reads(files).mutates(hash).push(() -> work.hash = Steps.hash(work.files));
            engine.op("list").reads(hash).mutates(hashes).push(() -> result.list(work.hash));
            engine.op("compress").reads(files).mutates(packed).push(() -> work.packed = Steps.compress(work.files));
            engine.op("append").reads(packed).mutates(archive).push(() -> result.append(work.packed));
            engine.op("index").reads(files).mutates(mentions).push(() -> work.mentions = Steps.mentions(work.files));
            engine.op("merge").reads(mentions).mutates(index).push(() -> result.merge(work.mentions));
        }
        engine.waitForAll();
        return result;
    }
}
