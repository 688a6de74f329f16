        /**
         *  jps gives the id of the process, jstack then shows:
         *
         * Java stack information for the threads listed above:
         * ===================================================
         * "Thread2":
         *         at com.example.concurrency.ServiceOne.methodTwoInServiceOne(ServiceOne.java:38)
         *         - waiting to lock <0x000000076acc03f8> (a java.lang.Object)
         *         at com.example.concurrency.ServiceTwo.methodTwoInServiceTwo(ServiceTwo.java:38)
         *         - locked <0x000000076acc5540> (a java.lang.Object)
         *         at com.example.concurrency.DeadLockTest$2.run(DeadLockTest.java:45)
         * "Thread1":
         *         at com.example.concurrency.ServiceTwo.methodOneInServiceTwo(ServiceTwo.java:28)
         *         - waiting to lock <0x000000076acc5540> (a java.lang.Object)
         *         at com.example.concurrency.ServiceOne.methodOneInServiceOne(ServiceOne.java:29)
         *         - locked <0x000000076acc03f8> (a java.lang.Object)
         *         at com.example.concurrency.DeadLockTest$1.run(DeadLockTest.java:38)
         *
         * Found 1 deadlock.
         */
