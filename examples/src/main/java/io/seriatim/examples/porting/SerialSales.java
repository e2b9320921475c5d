package io.seriatim.examples.porting;

import io.seriatim.examples.porting.Sales.Customers;
import io.seriatim.examples.porting.Sales.Sale;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Sums up the sales of several days, with one file per day. Compare {@link ParallelSales}. */
final class SerialSales {
    private SerialSales() {
    }

    static void run(List<Path> days, Path out) throws IOException {
        Customers customers = new Customers();
        StringBuilder log = new StringBuilder();
        long total = 0;
        for (Path day : days) {
            Path name = day.getFileName();
            List<Sale> sales = Sales.read(day);
            Map<Integer, Long> sums = Sales.sums(sales, customers);
            Sales.write(out.resolve(name), sums);
            total += Sales.total(sums);
            log.append(name).append(": ").append(sales.size()).append(" sales\n");
        }
        Files.writeString(out.resolve("summary.txt"), log + "total " + total + "\n");
    }
}
