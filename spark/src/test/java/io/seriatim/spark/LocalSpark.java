package io.seriatim.spark;

import org.apache.spark.sql.SparkSession;

/** A Spark with two threads for tasks, which all tests of the process share. */
final class LocalSpark {
    private LocalSpark() {
    }

    static SparkSession session() {
        return SparkSession.builder().master("local[2]").appName("seriatim-tests")
                .config("spark.ui.enabled", false)
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.executor.heartbeatInterval", "1s")
                .config("spark.sql.shuffle.partitions", 2)
                .config("spark.sql.warehouse.dir", "target/warehouse")
                .getOrCreate();
    }
}
