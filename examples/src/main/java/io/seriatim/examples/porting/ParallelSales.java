package io.seriatim.examples.porting;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Guarded;
import io.seriatim.examples.porting.Sales.Customers;
import io.seriatim.examples.porting.Sales.Sale;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** {@link SerialSales} on an engine. */
final class ParallelSales {
    private ParallelSales() {
    }

    static void run(Engine engine, List<Path> days, Path out) throws InterruptedException {
        Guarded<Customers> customers = Guarded.of(engine, "customers", new Customers());
        Guarded<StringBuilder> log = Guarded.of(engine, "log", new StringBuilder());
        Guarded<Long> total = Guarded.of(engine, "total", 0L);
        for (Path day : days) {
            Path name = day.getFileName();
            Guarded<List<Sale>> sales = Guarded.of(engine, "sales of " + name, List.of());
            Guarded<Map<Integer, Long>> sums = Guarded.of(engine, "sums of " + name, Map.of());
            engine.op("read " + name).mutates(sales.var()).push(() -> sales.set(Sales.read(day)));
            engine.op("sum " + name).reads(sales.var()).mutates(customers.var(), sums.var())
                    .push(() -> sums.set(Sales.sums(sales.get(), customers.get())));
            engine.op("write " + name).reads(sums.var()).push(() -> Sales.write(out.resolve(name), sums.get()));
            engine.op("add " + name).reads(sums.var()).mutates(total.var())
                    .push(() -> total.set(total.get() + Sales.total(sums.get())));
            engine.op("log " + name).reads(sales.var()).mutates(log.var())
                    .push(() -> log.get().append(name).append(": ").append(sales.get().size()).append(" sales\n"));
        }
        engine.op("summary").reads(log.var(), total.var())
                .push(() -> Files.writeString(out.resolve("summary.txt"), log.get() + "total " + total.get() + "\n"));
        engine.waitForAll();
    }
}
