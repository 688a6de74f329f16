    /*
     * [2021-08-31T08:08:25.210+0800]    Subphase: Pause Weak Roots VMWeakHandles                0.000 / 0.000         0.000 / 0.000         0.000 / 0.000         0.000 / 0.000       ms
     * [2021-08-31T08:08:25.210+0800]      System: Java Threads                                    911 / 911             910 / 911             901 / 913             901 / 913         threads
     * [2021-08-31T08:08:25.210+0800] =========================================================================================================================================================
     * [2021-08-31T11:29:12.823+0800] Allocation Stall (ThreadPoolTaskScheduler-1) 0.204ms
     * [2021-08-31T11:29:12.823+0800] Allocation Stall (http-nio-8080-exec-71) 1.032ms
     * [2021-08-31T11:29:12.823+0800] Allocation Stall (NioProcessor-2) 0.391ms
     * [2021-08-31T11:29:12.823+0800] Allocation Stall (http-nio-8080-exec-85) 0.155ms
     * [2021-08-31T11:29:12.823+0800] Allocation Stall (http-nio-8080-exec-49) 277.588ms
     * [2021-08-31T11:29:12.825+0800] Out Of Memory (thread 8)
     */
    private static List<ParseRule> withGCIDRules;
