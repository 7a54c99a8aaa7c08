-- A few rows of every table that the analysis-db importer reads.
CREATE TABLE StepTraceTime (deviceId INTEGER, step TEXT, computing NUMERIC,
    communication_not_overlapped NUMERIC, overlapped NUMERIC, communication NUMERIC, free NUMERIC,
    stage NUMERIC, bubble NUMERIC, communication_not_overlapped_and_exclude_receive NUMERIC,
    preparing NUMERIC);
INSERT INTO StepTraceTime VALUES
    (0, '50', 8903.431, 98071.947, 4036.153, 102108.1, 25258.144, 132233.522, 0, 98071.947, 18055.693),
    (1, NULL, 72.7, 0, 0, 0, 255711.6, 255784.3, 0, 0, 0);
CREATE TABLE CommAnalyzerTime (hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC,
    elapse_time NUMERIC, transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC,
    idle_time NUMERIC, step TEXT, type TEXT);
INSERT INTO CommAnalyzerTime VALUES
    ('hcom_allReduce__210_0_1', '17', 1736410576431645.2, 88.75, 0.25, 3.5, 3.25, 85, 'step50', 'collective'),
    ('hcom_send__210_1', '17', 1736410576431700, 1, 1, 0, 0, 0, 'step50', 'p2p');
CREATE TABLE CommAnalyzerBandwidth (hccl_op_name TEXT, group_name TEXT, transport_type TEXT,
    transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC,
    package_size NUMERIC, count NUMERIC, total_duration NUMERIC, step TEXT, type TEXT);
INSERT INTO CommAnalyzerBandwidth VALUES
    ('hcom_allReduce__210_0_1', '17', 'HCCS', 28, 2, 14, 0, 1, 3, 1, 'step50', 'collective'),
    ('hcom_allReduce__210_0_1', '17', 'SDMA', 28, 2, 14, 0, 0, 0, 0, 'step50', 'collective'),
    ('hcom_send__210_1', '17', 'RDMA', 3, 1, 3, 0, 1, 1, 1, 'step50', 'p2p');
